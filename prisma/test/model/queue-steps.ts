import type { Rules } from './rules.ts'
import { cron, isFinished, plain, rowOf, type State, withRow } from './state.ts'
import { advance, cancel, moveToQueue, stop } from './statements.ts'
import type { Verb, Visit } from './steps.ts'

/** The steps of a queue and of its users. */
export function queueSteps(rules: Rules, state: State, visit: Visit): void {
  const { queue } = state
  const advanced = advance(state)
  const woken = [plain, cron].find(task => rowOf(advanced, task) !== rowOf(state, task))
  if (woken !== undefined && (rules.searchesQueues || queue.isToWake))
    visit('wake', -1, woken, { ...advanced, queue: { ...queue, isToWake: false } })
  if (queue.startedBy !== null) visit('pass', -1, -1, { ...state, queue: { ...queue, startedBy: null } })
  if (!queue.isPaused) visit('pauseQueue', -1, -1, { ...state, queue: { ...queue, isPaused: true } })
  else visit('resumeQueue', -1, -1, { ...state, queue: { ...queue, isPaused: false, isToWake: !rules.searchesQueues } })
  for (const task of [plain, cron]) {
    const row = rowOf(state, task)
    if (isFinished(row)) continue
    if (row.state === 'retrying') visit('stop', -1, task, withRow(state, task, stop(row)))
    if (row.state === 'pending') visit('cancel', -1, task, withRow(state, task, cancel(row)))
    if (moveToQueue(row) !== row) visit('moveToQueue', -1, task, withRow(state, task, moveToQueue(row)))
  }
}

/**
 * Only in the variation without a search: the process that frees a permit wakes the queue afterwards, unless it is killed
 * between the two.
 */
export function withWakeUp(rules: Rules, before: State, verb: Verb, after: State): State {
  if (rules.searchesQueues || after.queue.limit === 'none') return after
  const isFreed = [plain, cron].some(
    task => rowOf(before, task).state === 'processing' && rowOf(after, task).state !== 'processing',
  )
  const isToWake = verb !== 'kill' && (after.queue.isToWake || isFreed)
  return isToWake === after.queue.isToWake ? after : { ...after, queue: { ...after.queue, isToWake } }
}
