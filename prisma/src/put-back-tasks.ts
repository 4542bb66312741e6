import type { Pool } from './pool.ts'
import { arrayRows, toArrayText } from './statement-rows.ts'

/** A claimed task, and for how long nobody is to claim it again; without a delay it stays due when it was. */
export type PutBack = { taskId: string; workspaceId: string; runId: string; delayMs?: number }

/**
 * Undoes claims whose attempts have not begun: the tasks wait again, the attempts are not counted and leave no run, and
 * their numbers are given to the next ones. The first attempt of a task is no execution then. Only for attempts of which
 * nothing has left. Fenced by the run's id: null for a task that has been taken over since.
 */
export async function putBackTasks(
  pool: Pool,
  tasks: readonly PutBack[],
): Promise<Array<{ dueAt: Date; now: Date } | null>> {
  const values = [
    tasks.map(({ taskId }) => taskId),
    tasks.map(({ workspaceId }) => workspaceId),
    tasks.map(({ runId }) => runId),
    tasks.map(({ delayMs }) => delayMs?.toString()),
  ].map(toArrayText)
  const { rows } = await pool.query<{ id: string; dueAt: Date; now: Date }>({
    name: 'put_back',
    text: statement,
    values,
  })
  const waiting = new Map(rows.map(({ id, dueAt, now }) => [id, { dueAt, now }]))
  return tasks.map(({ taskId }) => waiting.get(taskId) ?? null)
}

const statement = `
  WITH input (id, workspace_id, run_id, delay_ms) AS (SELECT * FROM ${arrayRows(['uuid', 'uuid', 'uuid', 'float8'])}),
  waiting AS (
    UPDATE tasks t
    SET state = CASE t.attempts WHEN 1 THEN 'pending' ELSE 'retrying' END::task_state, attempts = t.attempts - 1,
        run_id = NULL, lease_until = NULL, updated_at = now(),
        due_at = coalesce(clock_timestamp() + delay_ms * interval '1 millisecond', t.due_at)
    FROM input i
    WHERE t.id = i.id AND t.workspace_id = i.workspace_id AND t.run_id = i.run_id AND t.state = 'processing'
    RETURNING t.id, t.workspace_id, t.state, t.due_at, uuid_v7_time(i.run_id) AS claimed_at
  ),
  -- What the claims have counted, in the month and on the day of these. In order of organization, as they do it.
  uncounted AS (
    INSERT INTO usage AS u (month, organization_id, executions, wanted, granted, execution_limit)
    SELECT utc_month(claimed_at), w.organization_id, 0, count(*), 0, 0
    FROM waiting JOIN workspaces w ON w.id = workspace_id
    WHERE state = 'pending' GROUP BY 1, 2 ORDER BY 2, 1
    ON CONFLICT (month, organization_id) DO UPDATE SET executions = greatest(0, u.executions - excluded.wanted)
  ),
  noted AS (
    INSERT INTO usage_changes (workspace_id, executions, changed_at)
    SELECT workspace_id, -count(*), min(claimed_at) FROM waiting WHERE state = 'pending' GROUP BY workspace_id
  )
  SELECT id, due_at AS "dueAt", clock_timestamp() AS now FROM waiting`
