import type { Pool } from './pool.ts'

/** A claimed task, and for how long nobody is to claim it again. */
export type PutBack = { taskId: string; workspaceId: string; runId: string; delayMs: number }

/**
 * Undoes a claim whose attempt could not begin: the task waits again, the attempt is not counted and leaves no run, and
 * its number is given to the next one. Only for attempts of which nothing has left. Fenced by the run's id: null when
 * the task has been taken over since.
 */
export async function putBackTask(pool: Pool, task: PutBack): Promise<{ dueAt: Date; now: Date } | null> {
  const values = [task.taskId, task.workspaceId, task.runId, task.delayMs]
  const { rows } = await pool.query<{ dueAt: Date; now: Date }>({ name: 'put_back_task', text: statement, values })
  return rows[0] ?? null
}

const statement = `
  UPDATE tasks
  SET state = 'retrying', attempts = attempts - 1, run_id = NULL, lease_until = NULL, updated_at = now(),
      due_at = clock_timestamp() + $4::float8 * interval '1 millisecond'
  WHERE id = $1 AND workspace_id = $2 AND run_id = $3 AND state = 'processing'
  RETURNING due_at AS "dueAt", clock_timestamp() AS now`
