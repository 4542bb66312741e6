import type { Loop } from '@belfry/runtime'
import { announceQuotaCrossings } from './announce-quota-crossings.ts'
import type { Context } from './context.ts'
import { correctStorage } from './correct-storage.ts'
import { expandCronJobs } from './expand-cron-jobs.ts'
import { expireLog } from './expire-log.ts'
import { foldUsage } from './fold-usage.ts'
import { forgetExpired } from './forget-expired.ts'
import { forgetOldRequests } from './forget-old-requests.ts'
import { inspectQueueStore } from './inspect-queue-store.ts'
import { prepareRunPartitions } from './prepare-run-partitions.ts'
import { promoteDueTasks } from './promote-due-tasks.ts'
import { purgeDeleted } from './purge-deleted.ts'
import { raiseAlerts } from './raise-alerts.ts'
import { recordQuotaCrossings } from './record-quota-crossings.ts'
import { repairOverdueTasks } from './repair-overdue-tasks.ts'
import { rescueLostAttempts } from './rescue-lost-attempts.ts'
import { settleDeadLetters } from './settle-dead-letters.ts'
import { trimDeadLetters } from './trim-dead-letters.ts'
import { windDownWorkspaces } from './wind-down-workspaces.ts'

/** Every chore of the scheduler and its period. Each may run in any number of copies. */
export function loops(ctx: Context): Loop[] {
  const chore = (name: string, intervalMs: number, run: Loop['run']): Loop => ({
    intervalMs,
    run: signal => timed(ctx, name, () => run(signal)),
    onError: error => ctx.log.error({ err: error, chore: name }, 'chore.failed'),
  })
  return [
    chore('expand-cron-jobs', 1_000, signal => expandCronJobs(ctx, signal)),
    chore('promote-due-tasks', 1_000, () => promoteDueTasks(ctx)),
    chore('repair-overdue-tasks', 15_000, () => repairOverdueTasks(ctx)),
    chore('raise-alerts', 5_000, () => raiseAlerts(ctx)),
    chore('rescue-lost-attempts', 5_000, signal => rescueLostAttempts(ctx, signal)),
    chore('wind-down-workspaces', 2_000, signal => windDownWorkspaces(ctx, signal)),
    chore('purge-deleted', 60_000, signal => purgeDeleted(ctx, signal)),
    chore('forget-expired', 600_000, signal => forgetExpired(ctx, signal)),
    chore('fold-usage', 1_000, signal => foldUsage(ctx, signal)),
    chore('record-quota-crossings', 60_000, () => recordQuotaCrossings(ctx)),
    chore('announce-quota-crossings', 10_000, signal => announceQuotaCrossings(ctx, signal)),
    chore('correct-storage', 600_000, signal => correctStorage(ctx, signal)),
    chore('expire-log', 3_600_000, signal => expireLog(ctx, signal)),
    chore('settle-dead-letters', 1_000, signal => settleDeadLetters(ctx, signal)),
    chore('trim-dead-letters', 60_000, signal => trimDeadLetters(ctx, signal)),
    chore('forget-old-requests', 60_000, signal => forgetOldRequests(ctx, signal)),
    chore('inspect-queue-store', 600_000, () => inspectQueueStore(ctx)),
    chore('prepare-run-partitions', 6 * 3_600_000, () => prepareRunPartitions(ctx)),
  ]
}

async function timed(ctx: Context, chore: string, run: () => Promise<unknown>): Promise<void> {
  const began = performance.now()
  let result: 'done' | 'failed' = 'failed'
  try {
    await run()
    result = 'done'
  } finally {
    ctx.metrics.choreEnded(chore, result, (performance.now() - began) / 1000)
  }
}
