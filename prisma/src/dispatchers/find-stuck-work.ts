import { isHeldCronJob } from '../migrate/held-tasks.ts'
import type { Db } from '../postgres/in-transaction.ts'
import { isHeld, isInFlight } from '../tasks/task-row.ts'
import { leaseFloor } from '../tasks/waiting-floor.ts'

/** Work that no running process will continue. */
export type StuckWork = {
  /** Dispatchers without a heartbeat for half a minute that are not ended yet. */
  deadDispatchers: number
  /** Attempts in flight whose dispatcher is one of them, or has no row. */
  orphanedAttempts: number
  /** Tasks that `hold-overdue` holds, up to 10,000. */
  heldTasks: number
  heldCronJobs: number
  heldOperations: number
  /** Mails that were given up within a day, and the last error. */
  lostMails: number
  lastMailError: string | null
}

/**
 * Finds stuck work. A scheduler ends a dead dispatcher after 12 seconds; half a minute means that all schedulers are
 * down or stuck.
 */
export async function findStuckWork(db: Db): Promise<StuckWork> {
  const { rows } = await db.query<StuckWork>(`
    WITH dead AS (
      SELECT id FROM dispatchers
      WHERE seen_at > '-infinity' AND seen_at < clock_timestamp() - interval '30 seconds'
    ), lost AS (
      SELECT last_error, finished_at FROM outbox
      WHERE finished_at > clock_timestamp() - interval '1 day' AND NOT sent AND kind = 'mail'
    )
    SELECT
      (SELECT count(*)::int FROM dead) AS "deadDispatchers",
      (SELECT count(*)::int FROM tasks t
       WHERE ${isInFlight} AND t.lease_until >= ${leaseFloor}
         AND (t.dispatcher_id IN (SELECT id FROM dead)
              OR NOT EXISTS (SELECT FROM dispatchers d WHERE d.id = t.dispatcher_id))) AS "orphanedAttempts",
      (SELECT count(*)::int FROM (SELECT FROM tasks WHERE ${isHeld} LIMIT 10000) held) AS "heldTasks",
      (SELECT count(*)::int FROM cron_jobs WHERE ${isHeldCronJob}) AS "heldCronJobs",
      (SELECT count(*)::int FROM bulk_operations WHERE held_at IS NOT NULL AND finished_at IS NULL) AS "heldOperations",
      (SELECT count(*)::int FROM lost) AS "lostMails",
      (SELECT last_error FROM lost ORDER BY finished_at DESC LIMIT 1) AS "lastMailError"`)
  return rows[0] as StuckWork // a SELECT without FROM returns a row
}
