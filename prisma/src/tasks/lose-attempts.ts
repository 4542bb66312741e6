import type { TaskState } from '../generated/enums.ts'
import { type Db, inTransaction } from '../postgres/in-transaction.ts'
import { type Ended, endWithCallbacks } from './drop-callbacks.ts'
import { topicOfMoved } from './task-row.ts'

/** A task is dead after this many losses while it was the only attempt in flight in its process. */
export const poisonLimit = 3

/** Lost tasks are due again spread over this time. */
const spreadMs = 5_000

export type Attempt = { taskId: string; runId: string }

export type LostAttempt = Ended<{
  taskId: string
  workspaceId: string
  state: TaskState
  attempts: number
  dueAt: Date
}>

/**
 * Ends attempts that were lost with their dispatcher. Each gets a failed run with the code `worker_lost`, and its task
 * waits in quarantine for another attempt. That attempt does not count as a retry, because the target may never have
 * been called. Only a task that was lost alone three times is dead. `recordAttempts` accepts the outcome of a lost
 * attempt until the next attempt starts.
 * @param attempts - The statement skips attempts that have been recorded meanwhile.
 * @param isAlone - Whether the lost process had no other attempt in flight.
 */
export function loseAttempts(db: Db, attempts: readonly Attempt[], isAlone: boolean): Promise<LostAttempt[]> {
  return inTransaction(db, tx =>
    endWithCallbacks(tx, attempts, async some => {
      const values = [some.map(({ taskId }) => taskId), some.map(({ runId }) => runId), isAlone]
      return (await tx.query<LostAttempt>({ name: 'lose_attempts', text: statement, values })).rows
    }),
  )
}

const statement = `
  WITH moved AS (
    UPDATE tasks t
    SET lease_until = NULL, dispatcher_id = NULL, prefetched = false, quarantined = true, updated_at = now(),
        lost = t.lost + 1, lost_alone = t.lost_alone + $3::boolean::int,
        state = CASE WHEN is_poison THEN 'dead' ELSE 'retrying' END::task_state,
        due_at = CASE WHEN is_poison THEN t.due_at
                      ELSE clock_timestamp() + random() * ${spreadMs} * interval '1 millisecond' END,
        finished_at = CASE WHEN is_poison THEN now() END
    FROM (
      SELECT id AS lost_id, due_at AS scheduled_at, lost_alone + $3::boolean::int >= ${poisonLimit} AS is_poison
      FROM tasks WHERE id = ANY ($1::uuid[]) AND run_id = ANY ($2::uuid[]) AND state = 'processing'
      FOR UPDATE
    ) lost
    WHERE t.id = lost.lost_id
    RETURNING t.id, t.workspace_id, t.source, t.state, t.attempts, t.due_at, t.run_id, t.cron_job_id, lost.scheduled_at,
              is_poison
  ),
  stored AS (
    INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                      error_code, error_message, cron_job_id, topic)
    SELECT run_id, workspace_id, id, attempts, source, 'failed', scheduled_at, uuid_v7_time(run_id), clock_timestamp(),
           'worker_lost', 'The dispatcher was lost before it could record the outcome. The target may have been called.'
             || CASE WHEN is_poison THEN ' This task was lost alone ${poisonLimit} times and is not tried again.' ELSE '' END,
           cron_job_id, ${topicOfMoved}
    FROM moved
  ),
  changed AS (
    INSERT INTO usage_changes (workspace_id, failed)
    SELECT workspace_id, count(*) FROM moved WHERE is_poison GROUP BY workspace_id
  )
  SELECT id AS "taskId", workspace_id AS "workspaceId", state, attempts, due_at AS "dueAt" FROM moved`
