import type { Hit } from '../bench/bench-target.ts'
import { lostCode, type Move, type StoredRun, type StoredTask, type Story } from './story.ts'

/** What a row allows. */
export type Limits = {
  /** Sends whose outcome was lost with a dispatcher, for a single task. Default 0. */
  repeatsPerTask?: number
  /** And for all tasks together. Default: no further limit. */
  repeats?: number
  /** How late after its time a task may be called for the first time. Default: no limit. */
  latenessMs?: number
}

export type Violation = { invariant: string; taskId: string | null; text: string }

export type Verdict = {
  violations: Violation[]
  tasks: number
  hits: number
  /** Sends whose outcome was lost, so that the task was called again or given up. */
  repeats: number
  /** The greatest lateness of a first call, in milliseconds. */
  latenessMs: number
}

const clockToleranceMs = 5
const overdueMs = 120_000
// Three dispatchers lost on one task end it.
const poisonLimit = 3

// Spec 3.2, and the way from retrying onward.
const arrows = new Set([
  ...['null>pending', 'pending>processing', 'pending>cancelled'],
  ...['processing>success', 'processing>retrying', 'processing>dead', 'retrying>processing'],
])
const finalStates = ['success', 'dead', 'cancelled']

/** Asserts every invariant on what has been seen, once everything has come to rest. */
export function checkStory(story: Story, limits: Limits = {}): Verdict {
  const found: Violation[] = []
  const report = (invariant: string, taskId: string | null, text: string) => found.push({ invariant, taskId, text })
  const tasks = new Map(story.tasks.map(task => [task.id, task]))
  const hits = groupByTask(story.hits)
  const runs = groupByTask(story.runs)
  const moves = groupByTask(story.moves)

  for (const { id, executeAt } of story.accepted) {
    const task = tasks.get(id)
    if (!task) report('I1', id, 'was accepted with 201 and is not in the database')
    else if (task.executeAt !== executeAt) report('I1', id, 'has another execute_at than was accepted')
  }
  for (const id of hits.keys()) if (!tasks.has(id)) report('I4', id, 'was called and is not in the database')
  for (const id of story.cancelled) {
    if ((hits.get(id) ?? []).length > 0) report('I7', id, 'was called although its DELETE was answered with 2xx')
    if (tasks.get(id)?.state !== 'cancelled')
      report('I7', id, 'is not cancelled although its DELETE was answered with 2xx')
  }
  let repeats = 0
  let latenessMs = 0
  for (const task of story.tasks) {
    const known = { hits: hits.get(task.id) ?? [], runs: runs.get(task.id) ?? [], moves: moves.get(task.id) ?? [] }
    const complain = (invariant: string, text: string) => report(invariant, task.id, text)
    checkEnd(story.now, task, known, complain)
    checkHits(task, known, complain)
    checkMoves(task, known.moves, complain)
    checkRuns(task, known.runs, complain)
    const repeated = countRepeats(known)
    repeats += repeated
    if (repeated > (limits.repeatsPerTask ?? 0)) complain('I5', `lost the outcome of ${repeated} sends`)
    const first = Math.min(...known.hits.map(({ at }) => at))
    if (Number.isFinite(first)) latenessMs = Math.max(latenessMs, first - task.executeAt)
    if (limits.latenessMs !== undefined && Number.isFinite(first) && first - task.executeAt > limits.latenessMs)
      complain('lateness', `was called ${Math.round(first - task.executeAt)} ms late`)
  }
  if (repeats > (limits.repeats ?? Number.POSITIVE_INFINITY))
    report('I5', null, `${repeats} sends were repeated; ${limits.repeats} may be`)
  return { violations: found, tasks: story.tasks.length, hits: story.hits.length, repeats, latenessMs }
}

type Known = { hits: Hit[]; runs: StoredRun[]; moves: Move[] }
type Complain = (invariant: string, text: string) => void

function checkEnd(now: number, task: StoredTask, { hits, runs }: Known, complain: Complain): void {
  const isOver = finalStates.includes(task.state)
  if (!isOver && task.dueAt < now - overdueMs) complain('I2', `is ${task.state} and long due`)
  if (task.state === 'processing') complain('I2', 'is still processing although everything has come to rest')
  if (task.state === 'success' && !hits.some(({ answered }) => isSuccess(answered)))
    complain('I3', 'is a success and no call of it was answered with 2xx')
  const lost = runs.filter(({ errorCode }) => errorCode === lostCode).length
  if (task.state === 'dead' && task.attempts <= task.maxRetries && lost < poisonLimit)
    complain('I9', `is dead after ${task.attempts} of ${task.maxRetries + 1} attempts`)
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
    if (seen.has(hit.attempt)) complain('I5', `was called twice for attempt ${hit.attempt}`)
    seen.add(hit.attempt)
    const dueAt = Math.max(task.executeAt, run?.scheduledAt ?? 0)
    if (hit.at < dueAt - clockToleranceMs) complain('I6', `was called ${(dueAt - hit.at).toFixed(1)} ms early`)
  }
}

function checkMoves(task: StoredTask, moves: Move[], complain: Complain): void {
  let state: string | null = null
  for (const move of moves) {
    if (move.from !== state) complain('I8', `left ${move.from} although it was ${state}`)
    if (!arrows.has(`${move.from}>${move.to}`)) complain('I8', `went from ${move.from} to ${move.to}`)
    state = move.to
  }
  if (state !== task.state) complain('I8', `is ${task.state} although its last move was to ${state}`)
}

function checkRuns(task: StoredTask, runs: StoredRun[], complain: Complain): void {
  const numbers = runs.map(({ attempt }) => attempt).sort((a, b) => a - b)
  const wanted = Array.from({ length: task.attempts - (task.state === 'processing' ? 1 : 0) }, (_, i) => i + 1)
  if (numbers.join() !== wanted.join())
    complain('I9', `has attempts ${numbers.join()} on record and counts ${task.attempts}`)
  // A lost attempt ends no task, so the one that follows it may be one more than the retries allow.
  const lost = runs.filter(({ errorCode }) => errorCode === lostCode).length
  if (task.attempts - lost > task.maxRetries + 1) complain('I9', `was tried ${task.attempts} times`)
  const successes = runs.filter(({ status }) => status === 'success')
  const last = runs.reduce<StoredRun | undefined>((a, b) => (a && a.attempt > b.attempt ? a : b), undefined)
  if (successes.length > 1 || (successes[0] && successes[0] !== last)) complain('I8', 'was tried again after a success')
  if ((task.state === 'success') !== (last?.status === 'success'))
    complain('I8', `is ${task.state} and its last run is ${last?.status}`)
}

function countRepeats({ hits, runs }: Known): number {
  const lost = new Set(runs.filter(({ errorCode }) => errorCode === lostCode).map(({ id }) => id))
  return hits.filter(({ runId }) => lost.has(runId)).length
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status <= 299
}

function groupByTask<T extends { taskId: string }>(things: T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const thing of things) {
    const group = groups.get(thing.taskId)
    if (group) group.push(thing)
    else groups.set(thing.taskId, [thing])
  }
  return groups
}
