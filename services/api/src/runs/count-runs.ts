import { type RunCounts, runCounts, runCountsQuery } from '@belfry/contract/run-counts'
import { countRuns, keptDays } from '@belfry/db/run-statistics/run-statistics'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'
import type { Span } from '../overview/span.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const steps = [minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs, hourMs, 3 * hourMs, 6 * hourMs, 12 * hourMs, dayMs]
const maxBuckets = 60

export const countRunsOverTime = endpoint({
  right: 'run.read',
  summary: 'Count the runs of a time by outcome',
  mayLag: true,
  answer: { status: 200, body: runCounts },
  query: runCountsQuery,
  async handle(ctx, { caller, query }) {
    const span = spanOf(query, ctx.clock.now())
    const { buckets } = await countRuns(ctx.pool, caller.workspaceId, span)
    return ok({
      from: new Date(span.fromMs).toISOString(),
      to: new Date(span.fromMs + span.count * span.bucketMs).toISOString(),
      bucket_ms: span.bucketMs,
      buckets: buckets.map(({ total, failed }, index) => ({
        at: new Date(span.fromMs + index * span.bucketMs).toISOString(),
        total,
        failed,
      })),
    } satisfies RunCounts)
  },
})

/** Returns whole buckets that contain a time. Their bounds do not depend on the current time. */
function spanOf({ from, to }: { from?: Date | undefined; to?: Date | undefined }, now: number): Span {
  const endMs = Math.min(to?.getTime() ?? now, now + 1)
  const beginMs = Math.max(from?.getTime() ?? endMs - dayMs, now - keptDays.hours * dayMs)
  // The statistics of minutes are deleted first.
  const minMs = beginMs < now - (keptDays.minutes - 1) * dayMs ? hourMs : 0
  const bucketMs = steps.find(step => step >= minMs && step * maxBuckets >= endMs - beginMs) ?? dayMs
  const fromMs = Math.floor(beginMs / bucketMs) * bucketMs
  return { fromMs, bucketMs, count: Math.max(0, Math.ceil((endMs - fromMs) / bucketMs)) }
}
