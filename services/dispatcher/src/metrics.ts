import type { Claim, FinishedAttempt, OutboxKind, ShortClaim } from '@belfry/db'
import { type Labels, type Meter, measurePool } from '@belfry/runtime'
import type { Context } from './context.ts'

/** What a dispatcher counts: one call for each batch and each attempt. */
export type Metrics = ReturnType<typeof openMetrics>

const lagBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const sizeBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

const errors = [
  'timeout',
  'connection_refused',
  'connection_reset',
  'stale_connection',
  'dns',
  'tls',
  'blocked_address',
  'invalid_response',
]
const otherErrors = [
  'http_1xx',
  'http_3xx',
  'http_4xx',
  'http_5xx',
  'secret_missing',
  'secret_unreadable',
  'internal_error',
  'worker_lost',
]
const results = [labelsOf('none'), ...[...errors, ...otherErrors].map(labelsOf)]
const claimKinds: ReadonlyArray<(Claim | ShortClaim)['kind']> = [
  'claimed',
  'early',
  'busy',
  'moved',
  'not_prefetchable',
  'gone',
  'short',
]

const refusalReasons = [
  'monthly_execution_limit',
  'storage_quota',
  'overlap_skipped',
  'workspace_deleted',
  'cronjob_deleted',
  'cronjob_paused',
  'cronjob_changed',
]
const outboxKinds: readonly OutboxKind[] = ['mail', 'webhook']
const messageResults = ['sent', 'failed', 'given_up'] as const

export function openMetrics(meter: Meter) {
  const lag = meter.histogram('belfry_lag_seconds', 'How long after its time an attempt started.', lagBounds)
  const duration = meter.histogram('belfry_attempt_duration_seconds', 'How long a call took.', durationBounds)
  const attempts = meter.counters(
    'belfry_attempts_total',
    'Attempts, by what came of them.',
    ['outcome', 'error'],
    results,
  )
  const superseded = meter.counter(
    ...([
      'belfry_attempts_superseded_total',
      'Attempts whose outcome came too late: somebody had ended them.',
    ] as const),
  )
  const claims = meter.counters(
    'belfry_claims_total',
    'Tasks that were asked for, by the answer.',
    ['result'],
    claimKinds.map(toClaimLabels),
  )
  const refusals = meter.counters(
    'belfry_tasks_refused_total',
    'Tasks that were cancelled in place of their first attempt, by the reason.',
    ['reason'],
    refusalReasons.map(reason => ({ reason })),
  )
  const messages = meter.counters(
    'belfry_outbox_messages_total',
    'Attempts to send a message of the outbox, by what came of it.',
    ['kind', 'result'],
    outboxKinds.flatMap(kind => messageResults.map(result => ({ kind, result }))),
  )
  const labels = new Map(results.map(result => [result.error, result]))
  return {
    meter,
    batch: meter.histograms('belfry_batch_size', 'How many tasks went in one statement.', sizeBounds, ['batch']),
    hostRested: meter.counter('belfry_host_rests_total', 'Times that a host began to rest, each workspace for itself.'),
    putBack: meter.counter(
      'belfry_attempts_put_back_total',
      'Attempts that could not begin for want of something on our side.',
    ),
    claimUndone: meter.counter(
      'belfry_claims_undone_total',
      'Prefetched claims that were undone because no slot became free for them.',
    ),
    refilled: meter.counter(
      'belfry_tasks_refilled_total',
      'Tasks that were taken straight from PostgreSQL, not from the queue.',
    ),
    queueAway: meter.counter(
      'belfry_queue_away_total',
      'Times that jobs could not be added because the queue was away.',
    ),
    claimed(answers: ReadonlyArray<Claim | ShortClaim>) {
      for (const kind of claimKinds) {
        let count = 0
        for (const answer of answers) if (answer.kind === kind) count++
        if (count > 0) claims(toClaimLabels(kind), count)
      }
      for (const answer of answers) if (answer.kind === 'gone' && answer.refusal) refusals({ reason: answer.refusal })
    },
    attemptEnded(attempt: FinishedAttempt, isRecorded: boolean) {
      const startedAt = attempt.startedAt.getTime()
      lag((startedAt - attempt.scheduledAt.getTime()) / 1000)
      duration((attempt.finishedAt.getTime() - startedAt) / 1000)
      const error = errorOf(attempt)
      attempts(labels.get(error) ?? labelsOf(error))
      if (!isRecorded) superseded()
    },
    message: (kind: OutboxKind, result: (typeof messageResults)[number]) => messages({ kind, result }),
  }
}

/** Shows what the process has room for, and what it has in hand. */
export function measureRoom(ctx: Context, slots: number): void {
  const { meter } = ctx.metrics
  measurePool(meter, ctx.pool)
  meter.gauge('belfry_slots', 'Calls that may be under way at a time.', () => slots)
  meter.gauge('belfry_slots_taken', 'Calls that are under way.', () => ctx.lines.underWay)
  meter.gauge('belfry_tasks_in_hand', 'Tasks that wait for their instant or their turn.', () => ctx.hand.size)
  meter.gauge(
    'belfry_hosts_resting',
    'Hosts that rest or are probed, each workspace for itself.',
    () => ctx.lines.resting().length,
  )
}

function labelsOf(error: string): Labels & { error: string } {
  return { outcome: error === 'none' ? 'success' : 'failed', error }
}

function toClaimLabels(result: (typeof claimKinds)[number]): Labels {
  return { result }
}

function errorOf({ errorCode, responseStatus }: FinishedAttempt): string {
  if (errorCode !== 'http_status' || responseStatus === null) return errorCode ?? 'none'
  return `http_${Math.floor(responseStatus / 100)}xx`
}
