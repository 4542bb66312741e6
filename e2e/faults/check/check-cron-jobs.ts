import type { Hit } from '../fixture/fixture-target.ts'
import type { Report } from './check-history.ts'
import { hitDuring } from './check-stops.ts'
import { clockToleranceMs } from './check-task.ts'
import { groupBy } from './group-by.ts'
import type { CronJobHistory, CronOperation, History, Move, StoredTask } from './history.ts'

// `catch_up: all` covers the last hundred occurrences.
const maxCaughtUp = 100

/** A period in which a cron job was certainly active with one rule. */
type Span = { from: number; until: number; everyMs: number }

/**
 * Checks I11 for each cron job. An occurrence has at most one task that is not cancelled. Each occurrence of an active cron
 * job has a task. No occurrence starts after the answer to a pause, a deletion or a change.
 */
export function checkCronJobs(history: History, report: Report): void {
  const [moves, hits] = [groupBy(history.moves), groupBy(history.hits)]
  const tasksOf = new Map<string, StoredTask[]>()
  for (const task of history.tasks)
    if (task.cronJobId !== null) tasksOf.set(task.cronJobId, [...(tasksOf.get(task.cronJobId) ?? []), task])
  for (const tasks of tasksOf.values()) checkUnique(tasks, report)
  for (const job of history.cronJobs) {
    const tasks = tasksOf.get(job.id) ?? []
    checkGaps(job, tasks, history.now, report)
    checkStops(job, tasks, { moves, hits }, report)
  }
}

function checkUnique(tasks: readonly StoredTask[], report: Report): void {
  for (const [instant, same] of byInstant(tasks)) {
    const kept = same.filter(({ state }) => state !== 'cancelled')
    if (kept.length > 1) report('I11', kept[1]?.id ?? null, `is the second task for ${format(instant)}`)
    const byUser = same.some(({ state, stateReason }) => state === 'cancelled' && stateReason === 'user')
    if (byUser && kept[0]) report('I11', kept[0].id, `came back for ${format(instant)}, which its user had cancelled`)
    for (const { id, executeAt } of same)
      if (executeAt !== instant) report('I11', id, `has another execute_at than its occurrence ${format(instant)}`)
  }
}

function checkGaps(job: CronJobHistory, tasks: readonly StoredTask[], now: number, report: Report): void {
  const known = byInstant(tasks)
  for (const { from, until, everyMs } of activeSpans(job.operations, now)) {
    const first = Math.floor(from / everyMs) * everyMs + everyMs
    for (let instant = first; instant < until; instant += everyMs) {
      const same = known.get(instant) ?? []
      if (same.length === 0) report('I11', null, `cron job ${job.id} has no task for ${format(instant)}`)
      for (const { id, state, stateReason, createdAt } of same) {
        if (state === 'cancelled' && stateReason === null) report('I11', id, 'was cancelled without a reason')
        const isRecent = createdAt - instant <= maxCaughtUp * everyMs
        if (job.catchUp === 'all' && stateReason === 'missed' && isRecent)
          report('I11', id, 'was missed although all are caught up')
      }
    }
  }
}

/** Returns when a cron job was certainly active: after an answer that started it and before the call that ended it. */
function activeSpans(operations: readonly CronOperation[], now: number): Span[] {
  const spans: Span[] = []
  let everyMs: number | null = null
  let from: number | null = null
  const end = (until: number) => {
    if (from !== null && everyMs !== null) spans.push({ from, until: until - clockToleranceMs, everyMs })
    from = null
  }
  for (const { kind, sentAt, answeredAt, status, ...operation } of operations) {
    if (kind === 'trigger' || isRefused(status)) continue
    const wasActive = from !== null
    if (kind === 'resume' && wasActive && isDone(status)) continue
    end(sentAt)
    // Without an answer the cron job may be active or not, with either rule.
    if (operation.everyMs !== null) everyMs = isDone(status) ? operation.everyMs : null
    if (!isDone(status)) continue
    if (kind === 'create' || kind === 'resume' || (kind === 'change' && wasActive)) from = answeredAt + clockToleranceMs
  }
  end(now)
  return spans
}

function checkStops(
  job: CronJobHistory,
  tasks: readonly StoredTask[],
  { moves, hits }: { moves: ReadonlyMap<string, Move[]>; hits: ReadonlyMap<string, Hit[]> },
  report: Report,
): void {
  for (const [i, stop] of job.operations.entries()) {
    if (!isStop(job.operations, i)) continue
    const next = job.operations.slice(i + 1).find(({ kind }) => kind !== 'trigger')
    for (const task of tasks) {
      const isOld = task.createdAt < stop.sentAt && (stop.kind !== 'change' || task.occurrenceAt !== null)
      const started = (moves.get(task.id) ?? []).find(
        ({ to, attempts, at }) => to === 'processing' && attempts === 1 && at > stop.answeredAt + clockToleranceMs,
      )
      const first = (hits.get(task.id) ?? []).filter(({ attempt }) => attempt === 1)
      const call = hitDuring(first, stop.answeredAt, Number.POSITIVE_INFINITY)
      if (isOld && (started || call))
        report(
          'I7',
          task.id,
          `${started ? 'started' : 'was called'} after the ${stop.kind} of its cron job was answered`,
        )
      const isWithin =
        task.createdAt > stop.answeredAt + clockToleranceMs && task.createdAt < (next?.sentAt ?? Infinity)
      if (stop.kind !== 'change' && isWithin && task.occurrenceAt !== null)
        report('I11', task.id, `was made after the ${stop.kind} of its cron job was answered`)
    }
  }
}

// A change to the same rule stops nothing.
function isStop(operations: readonly CronOperation[], i: number): boolean {
  const stop = operations[i]
  if (!stop || !isDone(stop.status)) return false
  if (stop.kind !== 'change') return stop.kind === 'pause' || stop.kind === 'delete'
  const before = operations.slice(0, i).findLast(({ everyMs, status }) => everyMs !== null && !isRefused(status))
  return before !== undefined && isDone(before.status) && stop.everyMs !== null && stop.everyMs !== before.everyMs
}

function isDone(status: number | 'broken'): boolean {
  return status !== 'broken' && status >= 200 && status <= 299
}

function isRefused(status: number | 'broken'): boolean {
  return status !== 'broken' && status >= 400 && status <= 499
}

function byInstant(tasks: readonly StoredTask[]): Map<number, StoredTask[]> {
  const groups = new Map<number, StoredTask[]>()
  for (const task of tasks) {
    if (task.occurrenceAt === null) continue
    groups.set(task.occurrenceAt, [...(groups.get(task.occurrenceAt) ?? []), task])
  }
  return groups
}

function format(instant: number): string {
  return new Date(instant).toISOString()
}
