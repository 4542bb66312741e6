import type { Hit } from '../fixture/fixture-target.ts'
import { lostCode, type Move, type StoredRun, type StoredTask } from './history.ts'

/** One task in the three sources. */
export type Known = { hits: Hit[]; runs: StoredRun[]; moves: Move[] }
export type Complain = (invariant: string, text: string) => void

/** The maximum difference between the clocks of the three sources. */
export const clockToleranceMs = 5
const overdueMs = 120_000
const finalStates = ['success', 'dead', 'cancelled']
// A task is dead after three losses while nothing else was in flight. The first may be the one before the quarantine.
const maxLosses = 3

/** Checks a single task: its end, its calls and its runs. */
export function checkTask(now: number, task: StoredTask, known: Known, complain: Complain): void {
  checkEnd(now, task, known, complain)
  checkHits(task, known, complain)
  checkRuns(task, known.runs, complain)
}

function checkEnd(now: number, task: StoredTask, { hits, runs, moves }: Known, complain: Complain): void {
  const isOver = finalStates.includes(task.state)
  if (!isOver && !task.isBlocked && task.dueAt < now - overdueMs) complain('I2', `is ${task.state} and long due`)
  if (task.state === 'processing') complain('I2', 'is still processing although no task is due')
  if (task.state === 'success' && !hits.some(({ answered }) => isSuccess(answered)))
    complain('I3', 'is a success and no call of it was answered with 2xx')
  const lost = new Set(runs.filter(({ errorCode }) => errorCode === lostCode).map(({ id }) => id))
  // A lost attempt does not use a retry, so only the others count towards the limit.
  if (task.state !== 'dead' || task.attempts - lost.size > task.maxRetries) return
  if (task.stateReason === 'expired' || task.stateReason === 'stopped') return
  const inQuarantine = moves.filter(move => move.from === 'processing' && move.wasQuarantined && isIn(lost, move.runId))
  if (lost.size < maxLosses || inQuarantine.length < maxLosses - 1)
    complain('I9', `is dead after ${task.attempts} of ${task.maxRetries + 1} attempts, ${lost.size} of them lost`)
}

function checkHits(task: StoredTask, { hits, runs }: Known, complain: Complain): void {
  const runOf = new Map(runs.map(run => [run.id, run]))
  const seen = new Set<number>()
  for (const hit of hits) {
    const run = runOf.get(hit.runId)
    if (!run) complain('I4', `was called for run ${hit.runId}, which is not stored`)
    else if (run.attempt !== hit.attempt || run.startedAt > hit.at + clockToleranceMs)
      complain('I4', `was called for run ${hit.runId} before its start or as another attempt`)
    else if (run.responseStatus !== null && run.responseStatus !== hit.answered && hit.answered !== null)
      complain('I4', `run ${run.id} says ${run.responseStatus}, the target answered ${hit.answered}`)
    if (task.expiresAt !== null && claimedAt(hit.runId) >= task.expiresAt)
      complain('I6', 'was claimed after its deadline')
    if (seen.has(hit.attempt)) complain('I5', `was called twice for attempt ${hit.attempt}`)
    seen.add(hit.attempt)
    const dueAt = Math.max(task.executeAt, run?.scheduledAt ?? 0)
    if (hit.at < dueAt - clockToleranceMs) complain('I6', `was called ${(dueAt - hit.at).toFixed(1)} ms early`)
  }
}

function checkRuns(task: StoredTask, runs: StoredRun[], complain: Complain): void {
  const numbers = runs.map(({ attempt }) => attempt).sort((a, b) => a - b)
  const wanted = Array.from({ length: task.attempts - (task.state === 'processing' ? 1 : 0) }, (_, i) => i + 1)
  if (numbers.join() !== wanted.join())
    complain('I9', `has attempts ${numbers.join()} on record and counts ${task.attempts}`)
  // Failures of Belfry use no retry.
  const own = runs.filter(({ errorCode }) => errorCode === lostCode || errorCode === 'stale_connection').length
  if (task.attempts - own > task.maxRetries + 1) complain('I9', `was tried ${task.attempts} times`)
  const successes = runs.filter(({ status }) => status === 'success')
  const last = runs.reduce<StoredRun | undefined>((a, b) => (a && a.attempt > b.attempt ? a : b), undefined)
  if (successes.length > 1 || (successes[0] && successes[0] !== last)) complain('I8', 'was tried again after a success')
  if ((task.state === 'success') !== (last?.status === 'success'))
    complain('I8', `is ${task.state} and its last run is ${last?.status}`)
}

/** Returns the time of a claim by the database's clock, with which the id of its run begins. */
export function claimedAt(runId: string): number {
  return Number.parseInt(runId.replace('-', '').slice(0, 12), 16)
}

function isIn(ids: ReadonlySet<string>, id: string | null): boolean {
  return id !== null && ids.has(id)
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status <= 299
}
