import type { TaskState } from './generated/enums.ts'
import type { Pool } from './pool.ts'

/** A task that kills this many dispatchers in a row of attempts is not tried again. */
export const poisonLimit = 3

export type ExpiredLease = { taskId: string; workspaceId: string; state: TaskState; attempts: number; dueAt: Date }

/**
 * Ends the attempts whose dispatcher has not recorded them by the end of their lease: each gets a failed run with the
 * code `worker_lost`, and its task is due again at once, or dead when its retries are used up or it has cost three
 * dispatchers. The fence of `recordAttempts` keeps a dispatcher that comes back later from overwriting this.
 */
export async function expireLeases(pool: Pool, limit: number): Promise<ExpiredLease[]> {
  const { rows } = await pool.query<ExpiredLease>({ name: 'expire_leases', text: statement, values: [limit] })
  return rows
}

const statement = `
  WITH lost AS (
    SELECT t.id, t.due_at AS scheduled_at, r.max_retries, (
      SELECT count(*) FROM runs WHERE runs.task_id = t.id AND runs.error_code = 'worker_lost'
    ) AS lost_before
    FROM tasks t JOIN task_requests r ON r.task_id = t.id
    WHERE t.state = 'processing' AND t.lease_until < clock_timestamp()
    ORDER BY t.lease_until
    LIMIT $1
    FOR UPDATE OF t SKIP LOCKED
  ),
  moved AS (
    UPDATE tasks t
    SET lease_until = NULL, updated_at = now(),
        state = CASE WHEN t.attempts > lost.max_retries OR lost.lost_before + 1 >= ${poisonLimit} THEN 'dead'
                     ELSE 'retrying' END::task_state,
        due_at = CASE WHEN t.attempts > lost.max_retries OR lost.lost_before + 1 >= ${poisonLimit} THEN t.due_at
                      ELSE clock_timestamp() END,
        finished_at = CASE WHEN t.attempts > lost.max_retries OR lost.lost_before + 1 >= ${poisonLimit} THEN now() END
    FROM lost WHERE t.id = lost.id
    RETURNING t.id, t.workspace_id, t.source, t.state, t.attempts, t.due_at, t.run_id, lost.scheduled_at
  ),
  stored AS (
    INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                      error_code, error_message)
    SELECT run_id, workspace_id, id, attempts, source, 'failed', scheduled_at, uuid_v7_time(run_id), clock_timestamp(),
           'worker_lost', 'The dispatcher was lost before it could record the outcome. The target may have been called.'
    FROM moved
  )
  SELECT id AS "taskId", workspace_id AS "workspaceId", state, attempts, due_at AS "dueAt" FROM moved`
