import { measureWaitingAuditEntries } from '@belfry/db/audit-streams/measure-waiting-entries'
import { countDeadLetters } from '@belfry/db/dead-letters/all-dead-letters'
import { busiestQueues } from '@belfry/db/queues/busiest-queues'
import { countPreparedMonths, countUnpartitionedRuns } from '@belfry/db/retention/run-partitions'
import { measureBacklog } from '@belfry/db/tasks/measure-backlog'
import { readTenantShares } from '@belfry/db/usage/tenant-shares'
import { toId } from '@belfry/domain/id'
import type { QueueDepth } from '@belfry/queue'
import { type Meter, measurePool } from '@belfry/runtime'
import type { Context } from './context.ts'

export type Metrics = ReturnType<typeof openMetrics>

export function openMetrics(meter: Meter) {
  const chores = meter.histograms(
    'belfry_chore_duration_seconds',
    'Duration of a chore, by its name and its result.',
    [0.01, 0.1, 1, 10, 60],
    ['chore', 'result'],
  )
  const { choreScheduled, choreSucceeded } = openChoreTimes(meter)
  const unmoved = 'Workspaces whose old runs the last round could not move to object storage.'
  const logNotStored = openObservation(meter, 'belfry_log_not_stored', unmoved)
  logNotStored(0)
  return {
    meter,
    databaseProbed: openObservation(meter, 'belfry_database_writable', '1 when the last test write succeeded, else 0.'),
    queueInspected: openObservation(meter, 'belfry_queue_unfit', 'Settings of Redis that can delay tasks.'),
    logNotStored,
    choreScheduled,
    promoted: meter.counter('belfry_promoted_tasks_total', 'Tasks whose jobs the promotion added to the queue.'),
    queueLost: meter.counter('belfry_queue_losses_total', 'Times that Redis came back empty or with old data.'),
    repaired: meter.counter(
      'belfry_repaired_tasks_total',
      'Overdue, unclaimed tasks whose jobs were added to the queue again.',
    ),
    dispatcherLost: meter.counter('belfry_dispatchers_lost_total', 'Dispatchers that died without a clean stop.'),
    attemptsLost: meter.counter('belfry_attempts_lost_total', 'Attempts that were lost with their dispatcher.'),
    occurrences: meter.counter('belfry_cron_occurrences_total', 'Occurrences of cron jobs that were stored as tasks.'),
    missed: meter.counter(
      'belfry_cron_occurrences_missed_total',
      'Occurrences that were skipped because their time passed while nothing ran.',
    ),
    unreadable: meter.counter(
      'belfry_cron_jobs_unreadable_total',
      'Times that the rule of a cron job could not be read; each is tried again after 30 s.',
    ),
    quotaCrossings: meter.counter('belfry_quota_crossings_total', 'Organizations that reached 80 % or all of a quota.'),
    choreEnded(chore: string, result: 'done' | 'failed', seconds: number) {
      chores({ chore, result }, seconds)
      if (result === 'done') choreSucceeded(chore)
    },
  }
}

// The gauge has no value before the first observation.
function openObservation(meter: Meter, name: string, help: string): (value: number) => void {
  let latest: number | null = null
  meter.gauges(name, help, [], () => (latest === null ? [] : [[{}, latest]]))
  return value => {
    latest = value
  }
}

// A chore that has not succeeded yet counts from the start of the process.
function openChoreTimes(meter: Meter) {
  const times = new Map<string, { periodMs: number; succeededAt: number }>()
  meter.gauges(
    'belfry_chore_last_success_timestamp_seconds',
    'When a chore of this process succeeded last, or when the process started.',
    ['chore'],
    () => [...times].map(([chore, { succeededAt }]) => [{ chore }, succeededAt / 1000]),
  )
  meter.gauges('belfry_chore_period_seconds', 'The maximum pause between two runs of a chore.', ['chore'], () =>
    [...times].map(([chore, { periodMs }]) => [{ chore }, periodMs / 1000]),
  )
  return {
    choreScheduled: (chore: string, periodMs: number) => void times.set(chore, { periodMs, succeededAt: Date.now() }),
    choreSucceeded(chore: string) {
      const known = times.get(chore)
      if (known) known.succeededAt = Date.now()
    },
  }
}

/** Exports the waiting work. Each scrape reads it from the database and the queue. */
export function measureWaiting(ctx: Context): void {
  const { meter } = ctx.metrics
  measurePool(meter, ctx.pool)
  const backlog = shared(() => measureBacklog(ctx.pool))
  for (const [name, help, part] of backlogGauges) meter.gauge(name, help, async () => (await backlog())[part])
  for (const [name, help, part] of outboxGauges)
    meter.gauges(name, help, ['kind'], async () => (await backlog()).outbox.map(one => [{ kind: one.kind }, one[part]]))
  meter.gauge(
    'belfry_run_partitions_ahead_months',
    'Future months with a run partition; -1 when the current month has none.',
    () => countPreparedMonths(ctx.pool),
  )
  meter.gauge('belfry_runs_without_partition', 'Runs in no partition of a month; counted up to 1,000.', () =>
    countUnpartitionedRuns(ctx.pool),
  )
  const help =
    'The largest shares that organizations have of slots in use, of executions and failures today, of storage.'
  meter.gauges('belfry_top_tenant_share', help, ['of', 'rank'], async () =>
    (await readTenantShares(ctx.pool)).map(({ of, rank, share }) => [{ of, rank: String(rank) }, share]),
  )
  const depths = shared(() => measureQueueDepths(ctx))
  for (const [name, help, part] of depthGauges)
    meter.gauges(name, help, ['queue'], async () => (await depths()).map(one => [{ queue: one.queue }, one[part]]))
}

const backlogGauges = [
  ['belfry_due_tasks', 'Tasks that are due and not claimed; counted up to 10,000.', 'due'],
  ['belfry_oldest_due_seconds', 'Age of the oldest due task.', 'oldestDueSeconds'],
  [
    'belfry_startable_tasks',
    'Due tasks that wait for Belfry, not for their target or their tenant; counted up to 10,000.',
    'startable',
  ],
  ['belfry_oldest_startable_seconds', 'Age of the oldest startable task.', 'oldestStartableSeconds'],
  ['belfry_lease_overdue_seconds', 'How long an attempt is past its deadline plus 15 seconds.', 'leaseOverdueSeconds'],
] as const

const outboxGauges = [
  ['belfry_outbox_waiting', 'Unsent messages; counted up to 10,000.', 'waiting'],
  ['belfry_outbox_oldest_seconds', 'Age of the oldest unsent message.', 'oldestSeconds'],
  [
    'belfry_outbox_overdue_seconds',
    'How long an unsent message has been due; 0 when all wait for their next attempt.',
    'overdueSeconds',
  ],
] as const

const depthGauges = [
  [
    'belfry_queue_depth',
    'Jobs that wait for a consumer or are with one; for dead-letter, the dead letters, counted up to 10,000.',
    'ready',
  ],
  ['belfry_queue_delayed', 'Jobs that are not due yet.', 'delayed'],
] as const

async function measureQueueDepths({ queue, pool }: Context): Promise<Array<QueueDepth & { queue: string }>> {
  if (queue === null) return []
  return [
    { queue: 'dispatch', ...(await queue.depth()) },
    { queue: 'dead-letter', ready: await countDeadLetters(pool), delayed: 0 },
  ]
}

/** Exports the audit entries that their streams have still to deliver. */
export function measureAuditStreams(ctx: Context): void {
  const { meter } = ctx.metrics
  const entries = shared(() => measureWaitingAuditEntries(ctx.pool))
  meter.gauges(
    'belfry_audit_entries_waiting',
    'Audit entries that their stream has not delivered yet; counted up to 10,000.',
    ['stream'],
    async () => (await entries()).map(({ stream, waiting }) => [{ stream }, waiting]),
  )
  meter.gauges('belfry_audit_oldest_seconds', 'Age of the oldest undelivered audit entry.', ['stream'], async () =>
    (await entries()).map(({ stream, oldestSeconds }) => [{ stream }, oldestSeconds]),
  )
}

/** Exports the queues of workspaces that have the most blocked tasks. */
export function measureQueues(ctx: Context): void {
  const busy = shared(() => busiestQueues(ctx.pool, maxBusyQueues))
  const gauges = [
    ['waiting', 'belfry_queue_waiting', 'Blocked tasks of the 20 queues that have the most of them.'],
    ['inFlight', 'belfry_queue_in_flight', 'Attempts in flight of the same queues.'],
    ['oldestDueSeconds', 'belfry_queue_oldest_due_seconds', 'Age of the first blocked task of the same queues.'],
  ] as const
  for (const [part, name, help] of gauges)
    ctx.metrics.meter.gauges(name, help, ['workspace', 'queue'], async () =>
      (await busy()).map(queue => [{ workspace: toId('ws', queue.workspaceId), queue: queue.name }, queue[part]]),
    )
}

// Each queue is a label of three gauges.
const maxBusyQueues = 20

// Long enough for the gauges of one scrape to share a reading.
const sharedMs = 500

function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let latest: { reading: Promise<T>; at: number } | undefined
  return () => {
    if (latest && performance.now() - latest.at < sharedMs) return latest.reading
    latest = { reading: read(), at: performance.now() }
    return latest.reading
  }
}
