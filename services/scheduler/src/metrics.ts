import { countPreparedMonths, measureBacklog } from '@belfry/db'
import type { QueueDepth } from '@belfry/queue'
import { type Meter, measurePool } from '@belfry/runtime'
import type { Context } from './context.ts'

/** What the chores count. */
export type Metrics = ReturnType<typeof openMetrics>

export function openMetrics(meter: Meter) {
  const chores = meter.histograms(
    'belfry_chore_duration_seconds',
    'Duration of a chore, by its name and its result.',
    [0.01, 0.1, 1, 10, 60],
    ['chore', 'result'],
  )
  return {
    meter,
    promoted: meter.counter(
      'belfry_promoted_tasks_total',
      'Tasks that were handed to the queue as their time came near.',
    ),
    queueLost: meter.counter('belfry_queue_losses_total', "Times that the queue's store came back empty or old."),
    repaired: meter.counter(
      'belfry_repaired_tasks_total',
      'Overdue tasks that nobody had claimed, and that were handed to the queue again.',
    ),
    dispatcherLost: meter.counter('belfry_dispatchers_lost_total', 'Dispatchers that died without stopping in order.'),
    attemptsLost: meter.counter('belfry_attempts_lost_total', 'Attempts that were lost with their dispatcher.'),
    occurrences: meter.counter('belfry_cron_occurrences_total', 'Occurrences of cron jobs that were made into tasks.'),
    missed: meter.counter(
      'belfry_cron_occurrences_missed_total',
      'Occurrences whose time passed while nothing ran, and that were left out.',
    ),
    unreadable: meter.counter(
      'belfry_cron_jobs_unreadable_total',
      'Times that the rule of a cron job could not be read; each is tried again after 30 s.',
    ),
    quotaCrossings: meter.counter('belfry_quota_crossings_total', 'Organizations that came to 80 % or all of a quota.'),
    choreEnded: (chore: string, result: 'done' | 'failed', seconds: number) => chores({ chore, result }, seconds),
  }
}

/** Shows what waits, asked of the database and the queue when somebody looks. */
export function measureWaiting(ctx: Context): void {
  const { meter } = ctx.metrics
  measurePool(meter, ctx.pool)
  const backlog = shared(() => measureBacklog(ctx.pool))
  meter.gauge(
    'belfry_due_tasks',
    'Tasks that are due and not claimed; counted up to 10,000.',
    async () => (await backlog()).dueTasks,
  )
  meter.gauge(
    'belfry_oldest_due_seconds',
    'How long the oldest of them has been due.',
    async () => (await backlog()).oldestDueSeconds,
  )
  meter.gauge(
    'belfry_lease_overdue_seconds',
    'By how much an attempt has outlived its deadline and 15 seconds.',
    async () => (await backlog()).leaseOverdueSeconds,
  )
  meter.gauges('belfry_outbox_waiting', 'Messages that have not been sent; counted up to 10,000.', ['kind'], async () =>
    (await backlog()).outbox.map(({ kind, waiting }) => [{ kind }, waiting]),
  )
  meter.gauges('belfry_outbox_oldest_seconds', 'How long ago the oldest of them was written.', ['kind'], async () =>
    (await backlog()).outbox.map(({ kind, oldestSeconds }) => [{ kind }, oldestSeconds]),
  )
  meter.gauge(
    'belfry_run_partitions_ahead_months',
    'Months after this one that have a partition for their runs; -1 when this one has none.',
    () => countPreparedMonths(ctx.pool),
  )
  const queues = {
    ...(ctx.queue && { dispatch: ctx.queue }),
    ...(ctx.deadLetters && { 'dead-letter': ctx.deadLetters }),
  }
  const depths = shared(() =>
    Promise.all(Object.entries(queues).map(async ([queue, { depth }]) => ({ queue, ...(await depth()) }))),
  )
  const show = (part: keyof QueueDepth) => async () =>
    (await depths()).map(one => [{ queue: one.queue }, one[part]] as const)
  meter.gauges(
    'belfry_queue_depth',
    'Jobs that wait for a consumer or are with one; of dead-letter, the letters that are shown.',
    ['queue'],
    show('ready'),
  )
  meter.gauges('belfry_queue_delayed', 'Jobs whose time is still to come.', ['queue'], show('delayed'))
}

// Several gauges of one look, which is not worth remembering longer.
const rememberedMs = 500

function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let latest: { reading: Promise<T>; at: number } | undefined
  return () => {
    if (latest && performance.now() - latest.at < rememberedMs) return latest.reading
    latest = { reading: read(), at: performance.now() }
    return latest.reading
  }
}
