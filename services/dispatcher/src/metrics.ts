import type { OutboxKind } from '@belfry/db/generated/enums'
import type { Claim, ShortClaim } from '@belfry/db/tasks/claimed-row'
import type { FinishedAttempt } from '@belfry/db/tasks/record-attempts'
import { countQueueAway, type Labels, type Meter, measureBatches } from '@belfry/runtime'
import type { Context } from './context.ts'
import { failureMessages } from './egress/outcome.ts'
import { ownFailureCodes } from './secrets/attempt-outcome.ts'

export type Metrics = ReturnType<typeof openMetrics>

const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900]

const statusClasses = ['http_1xx', 'http_3xx', 'http_4xx', 'http_5xx']
const errors = ['none', ...Object.keys(failureMessages), ...statusClasses, ...ownFailureCodes]
const results = new Map(errors.map(error => [error, labelsOf(error)]))
const [freeLag, blockedLag] = [{ blocked: 'no' }, { blocked: 'yes' }]
const claimKinds: ReadonlyArray<(Claim | ShortClaim)['kind']> = [
  'claimed',
  'early',
  'busy',
  'moved',
  'queued',
  'blocked',
  'not_prefetchable',
  'gone',
  'short',
]

const refusalReasons = [
  'monthly_execution_limit',
  'storage_quota',
  'overlap_skipped',
  'missed',
  'workspace_deleted',
  'cronjob_deleted',
  'cronjob_paused',
  'cronjob_changed',
]
const outboxKinds: readonly OutboxKind[] = ['mail', 'webhook']
const messageResults = ['sent', 'failed', 'given_up'] as const

export function openMetrics(meter: Meter) {
  const lag = meter.histograms(
    'belfry_lag_seconds',
    'How late an attempt started; blocked: whether it had to wait for its host.',
    durationBounds,
    ['blocked'],
  )
  const duration = meter.histogram('belfry_attempt_duration_seconds', 'How long a call took.', durationBounds)
  const attempts = meter.counters(
    'belfry_attempts_total',
    'Attempts, by outcome.',
    ['outcome', 'error'],
    [...results.values()],
  )
  const supersededHelp = 'Attempts that had been ended by another process when their outcome came.'
  const superseded = meter.counter('belfry_attempts_superseded_total', supersededHelp)
  const claimLabels = claimKinds.map(result => ({ result }))
  const claims = meter.counters('belfry_claims_total', 'Claims, by answer.', ['result'], claimLabels)
  const refusals = meter.counters(
    'belfry_tasks_refused_total',
    'Tasks that were cancelled in place of their first attempt, by reason.',
    ['reason'],
    refusalReasons.map(reason => ({ reason })),
  )
  const messages = meter.counters(
    'belfry_outbox_messages_total',
    'Attempts to send a message of the outbox, by result.',
    ['kind', 'result'],
    outboxKinds.flatMap(kind => messageResults.map(result => ({ kind, result }))),
  )
  return {
    meter,
    circuitOpened: meter.counter('belfry_host_rests_total', 'Circuit breakers that opened, for each workspace.'),
    attemptUndone: meter.counter(
      'belfry_attempts_put_back_total',
      'Attempts that could not start because something was missing on the side of Belfry.',
    ),
    claimUndone: meter.counter(
      'belfry_claims_undone_total',
      'Prefetched claims that were undone because no slot became free for them.',
    ),
    refilled: meter.counter('belfry_tasks_refilled_total', 'Tasks that were taken from the backlog in PostgreSQL.'),
    queueAway: countQueueAway(meter),
    batch: measureBatches(meter),
    claimed(answers: ReadonlyArray<Claim | ShortClaim>) {
      const counts = new Map<string, number>()
      for (const answer of answers) {
        counts.set(answer.kind, (counts.get(answer.kind) ?? 0) + 1)
        if (answer.kind === 'gone' && answer.refusal) refusals({ reason: answer.refusal })
      }
      for (const [result, count] of counts) claims({ result }, count)
    },
    missed: (count: number) => refusals({ reason: 'missed' }, count),
    /**
     * @param wasBlocked - Whether the host of the task kept it waiting after its time.
     * @param traceparent - The trace of the attempt.
     */
    attemptEnded(attempt: FinishedAttempt, isRecorded: boolean, wasBlocked: boolean, traceparent: string | null) {
      const startedAt = attempt.startedAt.getTime()
      lag(wasBlocked ? blockedLag : freeLag, (startedAt - attempt.scheduledAt.getTime()) / 1000, traceparent)
      duration((attempt.finishedAt.getTime() - startedAt) / 1000, traceparent)
      const error = errorOf(attempt)
      attempts(results.get(error) ?? labelsOf(error))
      if (!isRecorded) superseded()
    },
    message: (kind: OutboxKind, result: (typeof messageResults)[number]) => messages({ kind, result }),
  }
}

export function measureCapacity({ metrics: { meter }, hostQueues, buffer }: Context, slots: number): void {
  meter.gauge('belfry_slots', 'Calls that may be in flight at a time, beside the slow ones.', () => slots)
  meter.gauge('belfry_slots_taken', 'Calls in flight, without the slow ones.', () => hostQueues.slotsTaken)
  meter.gauge('belfry_slow_calls', 'Calls that hold no slot because they are slow.', () => hostQueues.slowCalls)
  meter.gauge('belfry_tasks_in_hand', 'Buffered tasks, which wait for their time or a slot.', () => buffer.size)
  const help = 'Circuit breakers that are open or half-open, for each workspace.'
  meter.gauge('belfry_hosts_resting', help, () => hostQueues.openCircuits().length)
}

function labelsOf(error: string): Labels & { error: string } {
  return { outcome: error === 'none' ? 'success' : 'failed', error }
}

function errorOf({ errorCode, responseStatus }: FinishedAttempt): string {
  if (errorCode !== 'http_status' || responseStatus === null) return errorCode ?? 'none'
  return `http_${Math.floor(responseStatus / 100)}xx`
}
