import { endedBy } from './operation-steps.ts'
import {
  cron,
  holdOf,
  isFinished,
  isHeld,
  isSearched,
  plain,
  processOf,
  quarantineProcess,
  type Row,
  rowOf,
  type State,
  stranger,
} from './state.ts'
import type { Verb } from './steps.ts'

/** The promise: one sentence for each way to break it. */
export const sentences = [
  'a task starts before it is due',
  'a task starts after its deadline',
  'a task starts after the pause of its queue was answered',
  'a task of an ordered queue starts before the one in front of it is final',
  'more attempts of a queue are in flight than it allows',
  'a queue starts more attempts in a period than it allows',
  'an occurrence starts after the pause or deletion of its cron job was answered',
  'a task starts after the deletion of its workspace was answered',
  'a task in quarantine is claimed by a dispatcher',
  'a task with a deadline is claimed before a slot is free',
  'a task is sent after its deadline',
  'a task is sent after its cancellation was answered',
  'a task is sent after its stop was answered',
  'a task is sent after too many losses',
  'a task is sent after it has ended',
  'a task is sent after its claim has ended',
  'an attempt number is sent twice',
  'what was sent since the backup is sent again, unheld',
  'an outcome that was reported since the backup is reported again, unheld',
  'a held task changes by itself',
  'a task had ended, and its state changes',
  'an outcome has no callback',
  'a callback has no outcome',
  'an attempt is reported lost though its dispatcher lives',
  'a prefetched claim that was never sent gets a run',
  'a shared loss counts towards the poison limit',
  'an attempt was sent and has no run',
  'the executions counted are not those that were claimed',
  'a living dispatcher has lost its own attempt',
  'an operation ends a task that was created after its start',
  'an operation ends and leaves out a task',
  'a waiting task lies below the floor, so no search finds it',
  'a task can never end',
] as const

export type Sentence = (typeof sentences)[number]

const claims: ReadonlySet<Verb> = new Set<Verb>(['claim', 'prefetch', 'commit', 'commitOlder'])
// Users change held tasks, and the operator releases them.
const changesHeld: ReadonlySet<Verb> = new Set<Verb>([
  ...(['release', 'stop', 'cancel', 'pause', 'deleteCronJob', 'windDown', 'walk', 'finishWalk'] as const),
])
const sends: ReadonlySet<Verb> = new Set<Verb>(['send', 'write'])

/** Returns which sentence of the promise this step breaks, or null. */
export function brokenByStep(before: State, verb: Verb, who: number, task: number, after: State): Sentence | null {
  const isReplay = before.operation?.action === 'replay' && (verb === 'walk' || verb === 'finishWalk')
  if (verb !== 'restore' && !isReplay) {
    for (const each of [plain, cron]) {
      const [was, is] = [rowOf(before, each), rowOf(after, each)]
      if (isHeld(was) && !changesHeld.has(verb) && (is.state !== was.state || is.due !== was.due))
        return 'a held task changes by itself'
      if (isFinished(was) && is.state !== was.state) return 'a task had ended, and its state changes'
      if (is.missingCallbacks > was.missingCallbacks) return 'an outcome has no callback'
      if (is.missingCallbacks < was.missingCallbacks) return 'a callback has no outcome'
    }
  }
  if (verb === 'walk' || verb === 'finishWalk') return brokenByOperation(before, after)
  if (claims.has(verb)) return brokenByClaim(before, who, task, rowOf(after, task))
  const isExpired = verb === 'expire' && rowOf(after, task).state !== rowOf(before, task).state
  if (isExpired && rowOf(before, task).expiredSinceBackup && before.restore === 'held')
    return 'an outcome that was reported since the backup is reported again, unheld'
  if (sends.has(verb)) return brokenBySend(before, who, task)
  if (verb === 'declareDead' || verb === 'endLease') return brokenByEnd(before, who, after)
  return null
}

function brokenByOperation(before: State, after: State): Sentence | null {
  const { operation } = before
  if (operation === null) return null
  for (const task of [plain, cron]) {
    const isOwed = (operation.owes & (1 << task)) !== 0
    const row = rowOf(after, task)
    if (!isOwed && row.state !== rowOf(before, task).state)
      return 'an operation ends a task that was created after its start'
    if (isOwed && after.operation === null && endedBy(operation.action, row) !== row)
      return 'an operation ends and leaves out a task'
  }
  return null
}

function brokenByClaim(before: State, who: number, task: number, after: Row): Sentence | null {
  const row = rowOf(before, task)
  if (after.state !== 'processing' || after === row) return null
  if (row.deadline !== 'none' && after.prefetched !== 'no')
    return 'a task with a deadline is claimed before a slot is free'
  return brokenByStart(before, who, task)
}

// Everything that forbids an attempt to start now.
function brokenByStart(before: State, who: number, task: number): Sentence | null {
  const row = rowOf(before, task)
  const inQueue = brokenByQueue(before, task)
  if (inQueue) return inQueue
  if (row.due !== 'due') return 'a task starts before it is due'
  if (row.deadline === 'passed') return 'a task starts after its deadline'
  if (row.quarantined !== (who === quarantineProcess)) return 'a task in quarantine is claimed by a dispatcher'
  if (row.mayNotStart && row.attempts === 0)
    return 'an occurrence starts after the pause or deletion of its cron job was answered'
  return before.workspace === 'deleted' ? 'a task starts after the deletion of its workspace was answered' : null
}

function brokenByQueue({ queue, rows }: State, task: number): Sentence | null {
  if (queue.isPaused) return 'a task starts after the pause of its queue was answered'
  if (queue.limit === 'ordered' && task === cron && !isFinished(rows[plain]))
    return 'a task of an ordered queue starts before the one in front of it is final'
  const isFull = queue.limit === 'one at a time' && rows.some(isInFlight)
  if (isFull) return 'more attempts of a queue are in flight than it allows'
  return queue.startedBy !== null ? 'a queue starts more attempts in a period than it allows' : null
}

// A held attempt is of a process that a restore has ended.
function isInFlight({ state, due }: Row): boolean {
  return state === 'processing' && due !== 'held'
}

// A request of a claim that stands belongs to the start that the claim was. Without one, the request is a start of its own.
function brokenBySend(before: State, who: number, task: number): Sentence | null {
  const row = rowOf(before, task)
  const { attempt } = holdOf(before, who, task)
  if (row.deadline === 'passed') return 'a task is sent after its deadline'
  const stands = row.state === 'processing' && row.by === who && row.attempts === attempt
  if (!stands)
    return brokenByLateSend(row) ?? brokenByStart(before, who, task) ?? 'a task is sent after its claim has ended'
  if (row.startedSinceBackup && before.restore === 'held') return 'what was sent since the backup is sent again, unheld'
  return (row.sent & (1 << attempt)) !== 0 ? 'an attempt number is sent twice' : null
}

function brokenByLateSend(row: Row): Sentence | null {
  if (row.state === 'cancelled') return 'a task is sent after its cancellation was answered'
  if (row.reason === 'stopped') return 'a task is sent after its stop was answered'
  if (row.state === 'dead' && row.quarantined) return 'a task is sent after too many losses'
  return isFinished(row) ? 'a task is sent after it has ended' : null
}

function brokenByEnd(before: State, who: number, after: State): Sentence | null {
  const lost = [plain, cron].filter(task => rowOf(after, task).runs !== rowOf(before, task).runs)
  const { is, isEntered } = who === stranger ? { is: 'dead', isEntered: false } : processOf(before, who)
  if (lost.length > 0 && is !== 'dead' && is !== 'frozen')
    return 'an attempt is reported lost though its dispatcher lives'
  for (const task of lost) {
    const [was, now] = [rowOf(before, task), rowOf(after, task)]
    if (was.prefetched === 'unsent' && isEntered) return 'a prefetched claim that was never sent gets a run'
    if (now.lostAlone > was.lostAlone && lost.length > 1) return 'a shared loss counts towards the poison limit'
  }
  return null
}

/** Returns which sentence of the promise this state breaks, or null. */
export function brokenByState(state: State): Sentence | null {
  return brokenByTask(state, plain) ?? brokenByTask(state, cron)
}

function brokenByTask(state: State, task: number): Sentence | null {
  const row = rowOf(state, task)
  if (row.age === 'below the floor' && isSearched(row))
    return 'a waiting task lies below the floor, so no search finds it'
  const inFlight = row.state === 'processing' ? 1 << row.attempts : 0
  if ((row.sent & ~(row.runs | inFlight)) !== 0) return 'an attempt was sent and has no run'
  if (row.executions !== (row.attempts > 0 ? 1 : 0)) return 'the executions counted are not those that were claimed'
  if (row.state !== 'processing' || row.by === null || row.by === stranger) return null
  const lives = ['up', 'draining'].includes(processOf(state, row.by).is)
  if (lives && holdOf(state, row.by, task).at === 'nothing') return 'a living dispatcher has lost its own attempt'
  return null
}

/** Whether every accepted task has ended. */
export function isOver(state: State): boolean {
  return state.rows.every(row => row.state === 'none' || isFinished(row))
}
