import { NIL_UUID } from '@belfry/domain/id'
import type { Pool } from '../postgres/pool.ts'
import { deletedRequests, freedStorage, storedRunBytes } from '../usage/count-storage.ts'
import type { KeptAuditLog } from './kept-logs.ts'

type OldRunsPage = {
  /** Runs on the page; fewer than `limit` on the last one. */
  examined: number
  deleted: number
  /** Deleted dead letters. They were not replayed or discarded within a year. */
  deadLetters: number
  /** The last run of the page, from which the next page continues; null when the page is empty. */
  last: string | null
}

/**
 * How many days a dead letter and its runs stay at least, independently of the log retention of the tier. Dead letters are
 * undelivered work, so they stay as long as the longest log. They expire, so forgotten ones do not accumulate.
 */
const deadLetterDays = 365

/**
 * Reads the next page of a workspace's runs that are older than `days`, and deletes them, except for the runs of dead
 * letters. With the latest run of a finished task it deletes the task. The same statement records the freed storage. It
 * skips locked rows: they stay until the next round.
 * @param after - The last run of the previous page. Default: null, the first page.
 */
export async function deleteOldRuns(
  pool: Pool,
  workspaceId: string,
  days: number,
  limit: number,
  after: string | null = null,
): Promise<OldRunsPage> {
  const values = [workspaceId, days, limit, after ?? NIL_UUID]
  const { rows } = await pool.query<OldRunsPage>({ name: 'delete_old_runs', text: oldRunsStatement, values })
  return rows[0] ?? { examined: 0, deleted: 0, deadLetters: 0, last: null }
}

// A run and its finished task are deleted together. When another caller holds the task, both stay: without its latest run,
// the task would never be found again.
export const oldRunsStatement = `
  WITH page AS (
    SELECT id, task_id FROM runs
    WHERE workspace_id = $1 AND id > $4 AND id < uuid_v7_floor(now() - $2 * interval '1 day') ORDER BY id LIMIT $3
    FOR UPDATE SKIP LOCKED
  ),
  old AS (
    SELECT page.id, CASE WHEN t.run_id = page.id AND t.finished_at IS NOT NULL THEN page.task_id END AS finished_task
    FROM page LEFT JOIN LATERAL (
      SELECT state, settled_at, finished_at, run_id FROM tasks WHERE id = page.task_id AND workspace_id = $1 LIMIT 1
    ) t ON true
    WHERE (t.state = 'dead' AND t.settled_at IS NULL
           AND t.finished_at > now() - greatest($2, ${deadLetterDays}) * interval '1 day') IS NOT TRUE
  ),
  finished AS (
    SELECT t.id, t.state = 'dead' AND t.settled_at IS NULL AS is_dead_letter
    FROM old JOIN tasks t ON t.id = old.finished_task FOR UPDATE OF t SKIP LOCKED
  ),
  deleted AS (
    DELETE FROM runs r USING old
    WHERE r.workspace_id = $1 AND r.id = old.id
      AND (old.finished_task IS NULL OR old.finished_task IN (SELECT id FROM finished))
    RETURNING ${storedRunBytes} AS bytes
  ),
  tasks_deleted AS (DELETE FROM tasks t USING finished WHERE t.id = finished.id RETURNING t.id, is_dead_letter),
  ${deletedRequests('tasks_deleted')},
  ${freedStorage('(SELECT bytes FROM deleted UNION ALL SELECT bytes FROM requests) freed')}
  SELECT (SELECT count(*)::int FROM page) AS examined, (SELECT count(*)::int FROM deleted) AS deleted,
         (SELECT count(*)::int FROM tasks_deleted WHERE is_dead_letter) AS "deadLetters",
         (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last`

// A task is not older than its id, so the bound on ids skips tasks that cannot have ended that long ago.
const deletionOf = (condition: string) => `
  WITH old AS (
    SELECT id FROM tasks
    WHERE workspace_id = $1 AND id < uuid_v7_floor(now() - $2 * interval '1 day')
      AND finished_at < now() - $2 * interval '1 day' AND ${condition}
    ORDER BY id LIMIT $3
    FOR UPDATE SKIP LOCKED
  ),
  deleted AS (DELETE FROM tasks t USING old WHERE t.id = old.id RETURNING t.id),
  ${deletedRequests('deleted')},
  ${freedStorage('requests')}
  SELECT count(*)::int AS deleted FROM deleted`

// A subquery for each task, because a join may read all runs of the workspace.
const hasNoRun = '(SELECT u.id FROM runs u WHERE u.workspace_id = $1 AND u.id = tasks.run_id) IS NULL'

/**
 * The finished tasks that the deletion of runs does not reach.
 * - `cancelled`: they may have no run.
 * - `dead_without_run`: they ended without an attempt, or after a wait in which the run of the latest one was deleted. They
 *   stay as long as other dead tasks.
 * - `restored`: their latest runs are not in PostgreSQL. The restored day of an earlier attempt brought them back.
 */
export const remainingTasks = {
  cancelled: { name: 'delete_cancelled_tasks', text: deletionOf(`state = 'cancelled'`) },
  dead_without_run: {
    name: 'delete_dead_without_run',
    text: deletionOf(`state = 'dead' AND ${hasNoRun}
      AND (settled_at IS NOT NULL OR finished_at < now() - greatest($2, ${deadLetterDays}) * interval '1 day')`),
  },
  restored: {
    name: 'delete_restored_tasks',
    text: deletionOf(`state = 'success' AND ${hasNoRun}`),
  },
}

/**
 * Deletes the oldest of these tasks of a workspace that ended more than `days` ago. Concurrent callers delete different tasks.
 * @returns How many; fewer than the limit when all are deleted.
 */
export async function deleteTasks(
  pool: Pool,
  which: keyof typeof remainingTasks,
  workspaceId: string,
  days: number,
  limit: number,
): Promise<number> {
  const values = [workspaceId, days, limit]
  return (await pool.query<{ deleted: number }>({ ...remainingTasks[which], values })).rows[0]?.deleted ?? 0
}

/**
 * Deletes up to `limit` audit entries of an organization that are older than `days`. Entries of the last 30 days stay in any
 * case. Returns how many it deleted.
 */
export async function expireAuditLog(pool: Pool, { organizationId, days }: KeptAuditLog, limit: number) {
  const text = 'SELECT expire_audit_log($1, $2, $3) AS deleted'
  const values = [organizationId, days, limit]
  const { rows } = await pool.query<{ deleted: number }>({ name: 'expire_audit_log', text, values })
  return rows[0]?.deleted ?? 0
}
