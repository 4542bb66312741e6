import type { Hit } from '../fixture/fixture-target.ts'
import type { Report } from './check-history.ts'
import { hitDuring } from './check-stops.ts'
import { claimedAt, clockToleranceMs } from './check-task.ts'
import { groupBy } from './group-by.ts'
import {
  type History,
  lostCode,
  type Move,
  type StoredOperation,
  type StoredQueue,
  type StoredTask,
  sees,
} from './history.ts'

type Claimed = Move & { runId: string }

// How long before its move is written a claim has decided.
const decidedMs = 2_000

/**
 * Checks I15: a queue never has more attempts in flight than `max_concurrent`, starts no more in a period than its
 * `rate_limit`, none while it is paused, and with `ordered` none before the task in front of it is final. Replays of one
 * operation have the order of their tasks. Nothing stays blocked. The permit of a dead dispatcher is in use until its
 * attempt is ended; its call may outlive it at the target.
 */
export function checkQueues(history: History, report: Report): void {
  const moves = groupBy(history.moves)
  const hits = groupBy(history.hits)
  const lost = new Set(history.runs.flatMap(({ id, errorCode }) => (errorCode === lostCode ? [id] : [])))
  for (const queue of history.queues) {
    const tasks = history.tasks.filter(({ queueId }) => queueId === queue.id)
    const ids = new Set(tasks.map(({ id }) => id))
    const own = history.moves.filter(({ taskId }) => ids.has(taskId))
    const complain = (taskId: string | null, text: string) =>
      report('I15', taskId, `${text} in the queue ${queue.name}`)
    const claims = own.filter(isClaim)
    checkInFlight(queue, own, complain)
    checkPeriods(
      queue,
      claims.filter(claim => !isUndone(claim, moves)),
      complain,
    )
    checkPauses(queue, claims, complain)
    if (queue.ordered) checkOrder(tasks, moves, claims, complain)
    const calls = tasks.flatMap(({ id }) => hits.get(id) ?? [])
    const unlost = calls.filter(({ runId }) => !lost.has(runId))
    checkCalls(queue, unlost, complain)
    checkCallsInPauses(queue, calls, complain)
    if (queue.ordered) checkSuccesses(tasks, moves, claims, calls, complain)
    if (queue.ordered) checkReplays(tasks, history.operations, complain)
    for (const task of tasks)
      if (task.isBlocked && ['pending', 'retrying'].includes(task.state))
        complain(task.id, 'is blocked although no task is in flight')
  }
}

type Complain = (taskId: string | null, text: string) => void

function isClaim(move: Move): move is Claimed {
  return move.to === 'processing' && move.from !== 'processing' && move.runId !== null
}

// The queue gets the start back.
function isUndone({ id, taskId, attempts }: Claimed, moves: ReadonlyMap<string, Move[]>): boolean {
  const next = moves.get(taskId)?.find(move => move.id > id)
  return next !== undefined && next.attempts < attempts
}

function permitsOf({ maxConcurrent, ordered }: StoredQueue): number {
  return ordered ? 1 : (maxConcurrent ?? Number.POSITIVE_INFINITY)
}

// PostgreSQL decides the claims of a queue one after another, so the order of the moves is exact.
function checkInFlight(queue: StoredQueue, moves: readonly Move[], complain: Complain): void {
  const inFlight = new Set<string>()
  for (const { taskId, to } of moves) {
    if (to === 'processing') inFlight.add(taskId)
    else inFlight.delete(taskId)
    if (to === 'processing' && inFlight.size > permitsOf(queue))
      complain(taskId, `was claimed as attempt ${inFlight.size} at once, of ${permitsOf(queue)},`)
  }
}

function checkPeriods({ rateCount, ratePeriodMs }: StoredQueue, claims: readonly Claimed[], complain: Complain): void {
  if (rateCount === null || ratePeriodMs === null) return
  const starts = claims.map(({ taskId, runId }) => ({ taskId, at: claimedAt(runId) })).sort((a, b) => a.at - b.at)
  for (const [i, { taskId, at }] of starts.entries()) {
    const before = starts[i - rateCount]
    if (before && at - before.at < ratePeriodMs)
      complain(taskId, `was start ${rateCount + 1} within ${at - before.at} ms`)
  }
}

function checkPauses({ pauses }: StoredQueue, claims: readonly Claimed[], complain: Complain): void {
  for (const { taskId, runId } of claims) {
    const at = claimedAt(runId)
    // The answer to the pause is timed by the clock of this process.
    const isPaused = pauses.some(({ from, until }) => at > from + clockToleranceMs && at < until - clockToleranceMs)
    if (isPaused) complain(taskId, 'was claimed during a pause')
  }
}

// What was claimed just before the pause is sent.
function checkCallsInPauses({ pauses }: StoredQueue, hits: readonly Hit[], complain: Complain): void {
  for (const { from, until } of pauses) {
    const call = hitDuring(hits, from, until)
    if (call) complain(call.taskId, `was called ${Math.round(call.at - from)} ms after the answer to a pause`)
  }
}

function checkReplays(tasks: readonly StoredTask[], operations: readonly StoredOperation[], complain: Complain): void {
  const byId = new Map(tasks.map(task => [task.id, task]))
  for (const { action, createdAt, finishedAt } of operations) {
    if (action !== 'replay') continue
    const replays = tasks.flatMap(replay => {
      const original = byId.get(replay.replayOf ?? '')
      const isOwn = replay.createdAt >= createdAt && replay.createdAt <= (finishedAt ?? Number.POSITIVE_INFINITY)
      return original && isOwn ? [{ replay, original }] : []
    })
    replays.sort((a, b) => (isBefore(a.replay, b.replay) ? -1 : 1))
    for (const [i, { replay, original }] of replays.entries()) {
      const before = replays[i - 1]
      if (before && isBefore(original, before.original))
        complain(replay.id, `is behind the replay of a task that was behind ${original.id}`)
    }
  }
}

function checkOrder(
  tasks: readonly StoredTask[],
  moves: ReadonlyMap<string, Move[]>,
  claims: readonly Claimed[],
  complain: Complain,
): void {
  const byId = new Map(tasks.map(task => [task.id, task]))
  for (const claim of claims) {
    const claimed = byId.get(claim.taskId)
    for (const task of tasks) {
      if (!claimed || !isBefore(task, claimed)) continue
      // A replay has the time at which its transaction began, and so may be in front of tasks that were claimed meanwhile.
      const isNew = task.replayOf !== null && claim.at - task.createdAt < decidedMs
      if (isNew) continue
      const earlier = (moves.get(task.id) ?? []).filter(move => move.id < claim.id && sees(claim, move))
      const state = earlier.at(-1)?.to
      if (state !== undefined && !['success', 'dead', 'cancelled'].includes(state))
        complain(claim.taskId, `was claimed while ${task.id} in front of it was ${state}`)
    }
  }
}

// The target never sees more calls at once, except lost ones, which it may see for longer than their permit.
function checkCalls(queue: StoredQueue, hits: readonly Hit[], complain: Complain): void {
  const ends = (until: number | null) => (until === null ? Number.POSITIVE_INFINITY : until - clockToleranceMs)
  for (const { taskId, at } of hits) {
    const open = hits.filter(other => other.at <= at && ends(other.until) > at).length
    if (open > permitsOf(queue)) complain(taskId, `was call ${open} at once at the target, of ${permitsOf(queue)},`)
  }
}

function checkSuccesses(
  tasks: readonly StoredTask[],
  moves: ReadonlyMap<string, Move[]>,
  claims: readonly Claimed[],
  hits: readonly Hit[],
  complain: Complain,
): void {
  const succeeded = new Map<string, Hit>()
  for (const hit of hits)
    if (hit.answered !== null && hit.answered >= 200 && hit.answered <= 299 && !succeeded.has(hit.taskId))
      succeeded.set(hit.taskId, hit)
  const inOrder = tasks.flatMap(task => {
    const hit = succeeded.get(task.id)
    return hit ? [{ task, hit }] : []
  })
  inOrder.sort((a, b) => (isBefore(a.task, b.task) ? -1 : 1))
  for (const [i, { hit }] of inOrder.entries()) {
    const before = inOrder[i - 1]?.hit
    if (before === undefined || before.at <= hit.at) continue
    const claim = claims.find(({ runId }) => runId === hit.runId)
    const creation = moves.get(before.taskId)?.[0]
    if (!claim || !creation || sees(claim, creation)) complain(hit.taskId, `succeeded before ${before.taskId}`)
  }
}

function isBefore(one: StoredTask, other: StoredTask): boolean {
  return one.executeAt < other.executeAt || (one.executeAt === other.executeAt && one.id < other.id)
}
