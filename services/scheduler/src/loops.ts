import { forgetIdempotencyKeys } from '@belfry/db/answer-once'
import { advanceRatedQueues, openQueueSearch } from '@belfry/db/queues/advance-queues'
import { forgetExpired } from '@belfry/db/retention/forget-expired'
import { foldRunChanges } from '@belfry/db/run-statistics/fold-run-changes'
import { deleteOldStatistics } from '@belfry/db/run-statistics/run-statistics'
import { raiseWaitingFloor } from '@belfry/db/tasks/waiting-floor'
import { foldUsageChanges } from '@belfry/db/usage/fold-usage-changes'
import { createWaker, type Loop, type Waker, watchClockSkew } from '@belfry/runtime'
import { announceQuotaCrossings } from './announce-quota-crossings.ts'
import { type Context, hasQueue, type QueueContext } from './context.ts'
import { deleteOrphans } from './delete-orphans.ts'
import { drain } from './drain.ts'
import { endGracePeriods } from './end-grace-periods.ts'
import { expandCronJobs, type UnreadableCronJobs } from './expand-cron-jobs.ts'
import { expireAuditLogs, expireLog } from './expire-log.ts'
import { expireOverdue } from './expire-tasks.ts'
import { promoteDueTasks } from './promote-due-tasks.ts'
import { purgeDeleted, windDownWorkspaces } from './purge-deleted.ts'
import { raiseAlerts } from './raise-alerts.ts'
import { openRepair } from './repair-overdue-tasks.ts'
import { reportUsage } from './report-usage.ts'
import { rescueLostAttempts } from './rescue-lost-attempts.ts'
import { stepBulkOperations } from './step-bulk-operations.ts'
import { expireLogParts, storeLog } from './store-log.ts'
import { sendAuditLogs, tidyAuditStreams, writeAuditFile } from './stream-audit-logs.ts'
import { switchOffFailing } from './switch-off-failing.ts'
import {
  inspectQueueStore,
  mendWaitingFloor,
  prepareRunPartitions,
  probeDatabase,
  recordQuotaCrossings,
  returnUnspentBlocks,
} from './upkeep.ts'

/** A chore of the scheduler. The heartbeat wakes those for which it finds work. */
export type Chore = Loop & { name: string; waker: Waker }

// How often a chore that the heartbeat wakes runs without it, in case its search misses something.
const wokenMs = 60_000

/**
 * Returns the chores that keep work in time, with their periods and, for some, the longer period while there is nothing to do.
 * Any number of schedulers may run each chore at once.
 */
export function timelyLoops(ctx: Context): Chore[] {
  const chore = choreOf(ctx)
  const unreadable: UnreadableCronJobs = new Map()
  const advance = (limit: number) => advanceRatedQueues(ctx.pool, limit)
  const warnOfSkew = watchClockSkew(ctx.clock, ctx.metrics.meter, ctx.log)
  return [
    chore('refresh-clock', 10_000, () => ctx.clock.refresh().then(warnOfSkew)),
    chore('expand-cron-jobs', 1_000, signal => expandCronJobs(ctx, signal, unreadable), 15_000),
    chore('raise-waiting-floor', 10_000, () => raiseWaitingFloor(ctx.pool)),
    chore('rescue-lost-attempts', 1_000, () => rescueLostAttempts(ctx), wokenMs),
    chore('advance-rated-queues', 500, signal => drain(signal, 200, advance), wokenMs),
    chore('search-queues', 1_000, openQueueSearch(ctx.pool), 4_000),
    chore('expire-tasks', 1_000, signal => expireOverdue(ctx, signal), wokenMs),
    ...(hasQueue(ctx) ? queueLoops(ctx) : []),
  ]
}

/** Returns the other chores. They have their own connections, so those that keep work in time never wait for one. */
export function backgroundLoops(ctx: Context): Chore[] {
  const chore = choreOf(ctx)
  const pool = ctx.backgroundPool
  const background: Context = { ...ctx, pool }
  const file = ctx.auditLogFile
  return [
    chore('mend-waiting-floor', 600_000, () => mendWaitingFloor(background)),
    chore('switch-off-failing', 60_000, () => switchOffFailing(background)),
    chore('raise-alerts', 5_000, () => raiseAlerts(background), 15_000),
    chore('send-audit-logs', 1_000, signal => sendAuditLogs(background, signal), wokenMs),
    chore('tidy-audit-streams', 600_000, signal => tidyAuditStreams(background, signal)),
    ...(file === null
      ? []
      : [chore('write-audit-file', 1_000, signal => writeAuditFile(background, signal, file), wokenMs)]),
    chore('wind-down-workspaces', 2_000, signal => windDownWorkspaces(background, signal), wokenMs),
    chore('purge-deleted', 60_000, signal => purgeDeleted(background, signal)),
    chore('forget-expired', 600_000, signal => drain(signal, 1, () => forgetExpired(pool))),
    chore('fold-usage', 1_000, signal => drain(signal, 10_000, limit => foldUsageChanges(pool, limit)), wokenMs),
    chore('fold-runs', 1_000, signal => drain(signal, 1_000, limit => foldRunChanges(pool, limit)), wokenMs),
    chore('expire-statistics', 600_000, signal => drain(signal, 5_000, limit => deleteOldStatistics(pool, limit))),
    chore('return-unspent-blocks', 60_000, signal => returnUnspentBlocks(background, signal)),
    chore('record-quota-crossings', 60_000, () => recordQuotaCrossings(background)),
    chore('announce-quota-crossings', 10_000, signal => announceQuotaCrossings(background, signal), 30_000),
    chore('end-grace-periods', 60_000, signal => endGracePeriods(background, signal)),
    chore('report-usage', 600_000, signal => reportUsage(background, signal)),
    chore('expire-log', 3_600_000, signal => expireLog(background, signal)),
    ...(ctx.logStorage === null ? [] : [chore('store-log', 3_600_000, signal => storeLog(background, signal))]),
    chore('expire-log-parts', 600_000, signal => expireLogParts(background, signal)),
    ...(ctx.logStorage === null
      ? []
      : [chore('delete-orphans', 86_400_000, signal => deleteOrphans(background, signal))]),
    chore('expire-audit-logs', 3_600_000, signal => expireAuditLogs(background, signal)),
    chore('step-bulk-operations', 1_000, signal => stepBulkOperations(background, signal), wokenMs),
    chore('forget-old-requests', 60_000, signal => drain(signal, 1_000, limit => forgetIdempotencyKeys(pool, limit))),
    chore('probe-database', 30_000, () => probeDatabase(background)),
    chore('prepare-run-partitions', 60_000, () => prepareRunPartitions(background)),
  ]
}

// The chores of BullMQ's queues.
function queueLoops(ctx: QueueContext): Chore[] {
  const chore = choreOf(ctx)
  const background = { ...ctx, pool: ctx.backgroundPool }
  const lost = createWaker()
  return [
    { ...chore('promote-due-tasks', 1_000, () => promoteDueTasks(ctx), 5_000), waker: lost },
    chore('watch-queue', 1_000, () => watchQueue(ctx, lost)),
    chore('repair-overdue-tasks', 15_000, openRepair(ctx)),
    chore('inspect-queue-store', 600_000, () => inspectQueueStore(background)),
  ]
}

// Wakes the promotion when Redis came back empty. The promotion itself detects old data, and reports a Redis that is away.
async function watchQueue({ queue }: QueueContext, lost: Waker): Promise<void> {
  const marker = await queue.readMarker().catch(() => undefined)
  if (marker === null) lost.wake()
}

function choreOf(ctx: Context) {
  return (name: string, intervalMs: number, run: Loop['run'], maxIntervalMs = intervalMs): Chore => {
    ctx.metrics.choreScheduled(name, maxIntervalMs)
    return {
      name,
      intervalMs,
      maxIntervalMs,
      waker: createWaker(),
      run: signal => timed(ctx, name, () => run(signal)),
      onError: error => ctx.log.error({ err: error, chore: name }, 'chore.failed'),
    }
  }
}

async function timed(ctx: Context, chore: string, run: () => Promise<unknown>): Promise<unknown> {
  const began = performance.now()
  let result: 'done' | 'failed' = 'failed'
  try {
    const found = await run()
    result = 'done'
    return found
  } finally {
    ctx.metrics.choreEnded(chore, result, (performance.now() - began) / 1000)
  }
}
