import type { AppErrorCode } from '@belfry/domain/app-error'
import { countQueueAway, type Meter, measureBatches } from '@belfry/runtime'

type ServedRequest = {
  method: string
  /** The pattern, not the path. */
  route: string
  status: number
  durationMs: number
  isStream: boolean
  traceparent: string | null
}

const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export function openMetrics(meter: Meter) {
  const requests = meter.counters('belfry_http_requests_total', 'Requests, by method, route and status.', [
    'method',
    'route',
    'status',
  ])
  const durations = meter.histograms(
    'belfry_http_request_duration_seconds',
    'How long requests took, streams left out.',
    durationBounds,
    ['method', 'route'],
  )
  const refusals = meter.counters(
    'belfry_refusals_total',
    'Requests that were refused, by the code of the problem.',
    ['code'],
    [{ code: 'quota_exceeded' }, { code: 'rate_limited' }],
  )
  const listReads = meter.counters(
    'belfry_list_reads_total',
    'Statements of lists that may be read from a replica, by the server that answered.',
    ['server'],
  )
  const batchSize = measureBatches(meter)
  return {
    meter,
    served({ method, route, status, durationMs, isStream, traceparent }: ServedRequest) {
      requests({ method, route, status: String(status) })
      if (!isStream) durations({ method, route }, durationMs / 1000, traceparent)
    },
    refused: (code: AppErrorCode) => refusals({ code }),
    listRead: (server: 'primary' | 'replica') => listReads({ server }),
    created: (size: number) => batchSize({ batch: 'create' }, size),
    queueAway: countQueueAway(meter),
  }
}
