import { probeWrite } from '@belfry/db/postgres/probe-write'
import { divideNextMonth } from '@belfry/db/retention/divide-month'
import { keptLogDays } from '@belfry/db/retention/month-parts'
import { prepareRunPartitions as preparePartitions } from '@belfry/db/retention/run-partitions'
import { mendWaitingFloor as mendFloor } from '@belfry/db/tasks/waiting-floor'
import { returnUnspentBlocks as returnBlocks } from '@belfry/db/usage/execution-blocks'
import { recordQuotaCrossings as recordCrossings } from '@belfry/db/usage/quota-crossings'
import type { Context, QueueContext } from './context.ts'
import { drain } from './drain.ts'

const partitionMonthsAhead = 3

/** Returns the unspent executions of past months and of dispatchers that are gone. Returns how many blocks there were. */
export async function returnUnspentBlocks(ctx: Context, signal: AbortSignal): Promise<number> {
  // A batch is also the number of organizations that one statement locks at most.
  const blocks = await drain(signal, 1, () => returnBlocks(ctx.pool, 500))
  if (blocks > 0) ctx.log.info({ blocks }, 'executions.returned')
  return blocks
}

/** Records which organizations have used 80 % or all of a quota. Returns how many crossings were new. */
export async function recordQuotaCrossings(ctx: Context): Promise<number> {
  const crossings = await recordCrossings(ctx.pool, ctx.tiers)
  ctx.metrics.quotaCrossings(crossings)
  if (crossings > 0) ctx.log.info({ crossings }, 'quota.crossed')
  return crossings
}

/**
 * Lowers the waiting floor to waiting work before it. Only a transaction of more than a minute leaves work there. It
 * scans all work that finished since the last vacuum, so it runs rarely.
 */
export async function mendWaitingFloor(ctx: Context): Promise<void> {
  const dueAt = await mendFloor(ctx.pool)
  if (dueAt !== null) ctx.log.warn({ dueAt: dueAt.toISOString() }, 'waiting_floor.lowered')
}

/**
 * Makes the run partitions of this month and the next three, except those that would have to wait for a lock. Divides the next
 * month into days or weeks when the log is large.
 */
export async function prepareRunPartitions(ctx: Context): Promise<void> {
  const { made, missing } = await preparePartitions(ctx.pool, partitionMonthsAhead)
  if (made.length > 0) ctx.log.info({ months: made }, 'run_partitions.made')
  if (missing.length > 0) ctx.log.warn({ months: missing }, 'run_partitions.missing')
  const keptDays = Math.min(await keptLogDays(ctx.pool, ctx.tiers), ctx.logStorage?.hotDays ?? Number.POSITIVE_INFINITY)
  const month = await divideNextMonth(ctx.pool, keptDays)
  if (month !== null) ctx.log.info({ month }, 'run_partitions.divided')
}

/**
 * Measures whether PostgreSQL accepts writes. On an idle installation, statements often succeed despite a full disk.
 */
export async function probeDatabase(ctx: Context): Promise<void> {
  const error = await probeWrite(ctx.pool).then(
    () => null,
    (reason: unknown) => reason,
  )
  ctx.metrics.databaseProbed(error === null ? 1 : 0)
  if (error !== null) throw error
}

/** Warns about Redis settings that would delay work. */
export async function inspectQueueStore(ctx: QueueContext): Promise<void> {
  const findings = await ctx.queue.findings()
  ctx.metrics.queueInspected(findings.length)
  for (const advice of findings) ctx.log.warn({ advice }, 'queue.unfit')
}
