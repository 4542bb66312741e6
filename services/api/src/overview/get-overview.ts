import { type Overview, type OverviewRange, overview, overviewQuery } from '@belfry/contract/overview'
import { countRuns } from '@belfry/db/run-statistics/run-statistics'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'
import { findFailingHosts } from './find-failing-hosts.ts'
import type { Span } from './span.ts'

const minuteMs = 60_000

const steps: Record<OverviewRange, { bucketMs: number; count: number }> = {
  '1h': { bucketMs: minuteMs, count: 60 },
  '24h': { bucketMs: 30 * minuteMs, count: 48 },
  '7d': { bucketMs: 180 * minuteMs, count: 56 },
  '30d': { bucketMs: 720 * minuteMs, count: 60 },
}

export const getOverview = endpoint({
  right: 'run.read',
  summary: 'Get statistics of the runs of a workspace',
  mayLag: true,
  answer: { status: 200, body: overview },
  query: overviewQuery,
  async handle(ctx, { caller, query }) {
    const span = spanOf(query.range, ctx.clock.now())
    const [{ whole, buckets }, failures] = await Promise.all([
      countRuns(ctx.pool, caller.workspaceId, span),
      findFailingHosts(ctx.pool, caller.workspaceId, span),
    ])
    return ok({
      range: query.range,
      from: new Date(span.fromMs).toISOString(),
      to: new Date(span.fromMs + span.count * span.bucketMs).toISOString(),
      bucket_ms: span.bucketMs,
      runs: { total: whole.total, failed: whole.failed },
      lag: { p50_ms: whole.lagP50Ms, p99_ms: whole.lagP99Ms },
      buckets: buckets.map(({ total, failed, lagP50Ms, lagP99Ms }, index) => ({
        at: new Date(span.fromMs + index * span.bucketMs).toISOString(),
        total,
        failed,
        lag_p50_ms: lagP50Ms,
        lag_p99_ms: lagP99Ms,
      })),
      ...failures,
    } satisfies Overview)
  },
})

// Ends with the bucket of the current time, so a bucket has the same bounds in every response.
function spanOf(range: OverviewRange, now: number): Span {
  const { bucketMs, count } = steps[range]
  const end = (Math.floor(now / bucketMs) + 1) * bucketMs
  return { fromMs: end - count * bucketMs, bucketMs, count }
}
