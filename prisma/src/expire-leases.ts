import type { TaskState } from './generated/enums.ts'
import type { Pool } from './pool.ts'
import { topicOf } from './record-attempts.ts'

/** A task that has killed this many dispatchers is not tried again. */
export const poisonLimit = 3

export type ExpiredLease = { taskId: string; workspaceId: string; state: TaskState; attempts: number; dueAt: Date }

/**
 * Ends the attempts whose dispatcher has not recorded them by the end of their lease: each gets a failed run with the
 * code `worker_lost`, and its task is due again at once, also when its retries are used up: nobody knows whether the
 * target was called, and a task must not end because a dispatcher did. Only one that has cost three of them is dead. The
 * fence of `recordAttempts` keeps a dispatcher that comes back later from overwriting this.
 */
export async function expireLeases(pool: Pool, limit: number): Promise<ExpiredLease[]> {
  const { rows } = await pool.query<ExpiredLease>({ name: 'expire_leases', text: statement, values: [limit] })
  return rows
}

const statement = `
  WITH lost AS (
    -- A dispatcher that stopped in order has told what it had sent.
    SELECT t.id, t.due_at AS scheduled_at, (
      SELECT count(*) FROM runs
      WHERE runs.task_id = t.id AND runs.error_code = 'worker_lost' AND runs.request_headers IS NULL
    ) + 1 >= ${poisonLimit} AS is_poison
    FROM tasks t
    WHERE t.state = 'processing' AND t.lease_until < clock_timestamp()
    ORDER BY t.lease_until
    LIMIT $1
    FOR UPDATE SKIP LOCKED
  ),
  moved AS (
    UPDATE tasks t
    SET lease_until = NULL, updated_at = now(),
        state = CASE WHEN is_poison THEN 'dead' ELSE 'retrying' END::task_state,
        due_at = CASE WHEN is_poison THEN t.due_at ELSE clock_timestamp() END,
        finished_at = CASE WHEN is_poison THEN now() END
    FROM lost WHERE t.id = lost.id
    RETURNING t.id, t.workspace_id, t.source, t.state, t.attempts, t.due_at, t.run_id, t.cron_job_id, lost.scheduled_at,
              is_poison
  ),
  stored AS (
    INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                      error_code, error_message, cron_job_id, topic)
    SELECT run_id, workspace_id, id, attempts, source, 'failed', scheduled_at, uuid_v7_time(run_id), clock_timestamp(),
           'worker_lost', 'The dispatcher was lost before it could record the outcome. The target may have been called.'
             || CASE WHEN is_poison THEN ' It was the third one: this task is not tried again.' ELSE '' END, cron_job_id, ${topicOf('moved')}
    FROM moved
  ),
  noted AS (
    INSERT INTO usage_changes (workspace_id, failed)
    SELECT workspace_id, count(*) FROM moved WHERE is_poison GROUP BY workspace_id
  )
  SELECT id AS "taskId", workspace_id AS "workspaceId", state, attempts, due_at AS "dueAt" FROM moved`
