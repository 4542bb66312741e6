import { checkCallbacks } from './check-callbacks.ts'
import { checkCalm } from './check-calm.ts'
import { checkCronJobs } from './check-cron-jobs.ts'
import { checkExecutions } from './check-executions.ts'
import { checkMoves } from './check-moves.ts'
import { checkOperations } from './check-operations.ts'
import { checkQueues } from './check-queues.ts'
import { checkStops } from './check-stops.ts'
import { checkTask } from './check-task.ts'
import { groupBy } from './group-by.ts'
import { type History, lostCode } from './history.ts'

/** The limits of a row, next to the charges of its faults. */
export type Limits = {
  /** How late the first call of a task may be. Default: a minute. */
  latenessMs?: number
  /** Tasks that kill every process that calls them: each of their attempts may be lost. */
  poison?: readonly string[]
  /** A window of the database's clock whose commits a failover may have lost. */
  lostCommits?: { from: number; until: number }
}

export type Violation = { invariant: string; taskId: string | null; text: string }

/** Records a violation; a null id stands for the whole history. */
export type Report = (invariant: string, taskId: string | null, text: string) => void

export type Verdict = {
  violations: Violation[]
  tasks: number
  hits: number
  /** The number of calls whose outcome was lost, after which the task was called again or became dead. */
  repeats: number
  /** The maximum lateness of a first call, in milliseconds. */
  latenessMs: number
}

// The longest time in the table "Punctuality" of docs/reliability.md, except for what waits for the end of an outage.
const defaultLatenessMs = 60_000
// Three processes commit about 10 a second.
export const maxCommitsPerSecond = 60

/** Checks every invariant on a history, once no task is in flight or due. */
export function checkHistory(seen: History, limits: Limits = {}): Verdict {
  const { latenessMs: maxLatenessMs = defaultLatenessMs } = limits
  const violations: Violation[] = []
  const report: Report = (invariant, taskId, text) => violations.push({ invariant, taskId, text })
  const history = withoutLostCommits(seen, limits)
  checkAnswers(history, report)
  const [hits, runs, moves] = [groupBy(history.hits), groupBy(history.runs), groupBy(history.moves)]
  let latenessMs = 0
  for (const task of history.tasks) {
    const known = { hits: hits.get(task.id) ?? [], runs: runs.get(task.id) ?? [], moves: moves.get(task.id) ?? [] }
    const complain = (invariant: string, text: string) => report(invariant, task.id, text)
    checkTask(history.now, task, known, complain)
    checkMoves(task, known, complain)
    const calledAt = Math.min(...known.hits.map(({ at }) => at))
    if (!Number.isFinite(calledAt)) continue
    latenessMs = Math.max(latenessMs, calledAt - task.executeAt)
    // An occurrence that is caught up on is made after its time.
    const late = calledAt - Math.max(task.executeAt, task.createdAt)
    if (late > maxLatenessMs + history.circuitsOpenMs) complain('lateness', `was called ${Math.round(late)} ms late`)
  }
  const repeats = checkLosses(history, limits, report)
  checkKeys(history, report)
  checkCronJobs(history, report)
  checkCallbacks(history, report)
  checkQueues(history, report)
  checkStops(history, report)
  checkOperations(history, report)
  checkCalm(history, report)
  checkExecutions(history, report)
  if (history.commitsPerSecond !== null && history.commitsPerSecond > maxCommitsPerSecond)
    report('I17', null, `${Math.round(history.commitsPerSecond)} transactions a second are committed at rest`)
  return { violations, tasks: seen.tasks.length, hits: seen.hits.length, repeats, latenessMs }
}

// Tasks that were answered or sent while commits were lost may be unknown to the database, or be sent again.
function withoutLostCommits(history: History, { lostCommits }: Limits): History {
  if (!lostCommits) return history
  const isDoubtful = (at: number) => at >= lostCommits.from && at <= lostCommits.until
  return {
    ...history,
    accepted: history.accepted.filter(({ answeredAt }) => !isDoubtful(answeredAt)),
    hits: history.hits.filter(({ at, runId }) => !isDoubtful(at) || history.runs.some(({ id }) => id === runId)),
  }
}

function checkAnswers(history: History, report: Report): void {
  const tasks = new Map(history.tasks.map(task => [task.id, task]))
  const hits = groupBy(history.hits)
  for (const { id, executeAt, paths } of history.accepted) {
    const task = tasks.get(id)
    if (!task) report('I1', id, 'was accepted with 201 and is not in the database')
    else if (!executeAt.includes(task.executeAt)) report('I1', id, 'has another execute_at than was accepted')
    const elsewhere = (hits.get(id) ?? []).find(({ path }) => !paths.includes(path))
    if (elsewhere) report('I13', id, `called ${elsewhere.path} although its PATCH was answered with 2xx`)
  }
  for (const id of hits.keys()) if (!tasks.has(id)) report('I4', id, 'was called and is not in the database')
  for (const id of history.cancelled) {
    if (hits.has(id)) report('I7', id, 'was called although its DELETE was answered with 2xx')
    if (tasks.get(id)?.state !== 'cancelled')
      report('I7', id, 'is not cancelled although its DELETE was answered with 2xx')
  }
  for (const id of history.stopped) {
    const task = tasks.get(id)
    if (task?.state !== 'dead' || task.stateReason !== 'stopped')
      report('I7', id, 'is not stopped although its stop was answered with 2xx')
  }
}

// Every lost attempt is charged to a fault, and a fault is charged only with the attempts that were in flight when it
// happened. Returns the number of calls whose outcome was lost.
function checkLosses(history: History, { poison = [] }: Limits, report: Report): number {
  const charged = new Set(history.charges.flatMap(({ runIds }) => runIds))
  const sent = new Set(history.hits.map(({ runId }) => runId))
  const lost = history.runs.filter(({ errorCode }) => errorCode === lostCode)
  for (const { id, taskId, attempt } of lost) {
    if (charged.has(id) || poison.includes(taskId)) continue
    report(
      'I5',
      taskId,
      `lost attempt ${attempt}${sent.has(id) ? ', which was sent' : ''}, and no fault may have cost it`,
    )
  }
  return lost.filter(({ id }) => sent.has(id)).length
}

// I10: the calls with one `Idempotency-Key` create one task, and each answer has its id.
function checkKeys({ keys, tasks }: History, report: Report): void {
  for (const { key, path, answered } of keys) {
    const stored = tasks.filter(({ name }) => name === path).map(({ id }) => id)
    const named = new Set(answered)
    if (stored.length > 1) report('I10', null, `the key ${key} made ${stored.length} tasks: ${stored.join()}`)
    if (named.size > 1) report('I10', null, `the key ${key} was answered with ${[...named].join()}`)
    for (const id of named) if (!stored.includes(id)) report('I10', id, `was named by the key ${key} and is not stored`)
  }
}
