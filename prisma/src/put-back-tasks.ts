import type { Pool } from './pool.ts'
import { type InputColumn, inputRows, inputValues } from './statement-input.ts'

/** A claimed task, and for how long nobody is to claim it again; without a delay it stays due when it was. */
export type PutBack = { taskId: string; workspaceId: string; runId: string; delayMs?: number }

/**
 * Undoes claims whose attempts have not begun: the tasks wait again, the attempts are not counted and leave no run, and
 * their numbers are given to the next ones. Only for attempts of which nothing has left. Fenced by the run's id: null for
 * a task that has been taken over since.
 */
export async function putBackTasks(
  pool: Pool,
  tasks: readonly PutBack[],
): Promise<Array<{ dueAt: Date; now: Date } | null>> {
  const { rows } = await pool.query<{ id: string; dueAt: Date; now: Date }>({
    name: 'put_back',
    text: statement,
    values: inputValues(input, tasks),
  })
  const waiting = new Map(rows.map(({ id, dueAt, now }) => [id, { dueAt, now }]))
  return tasks.map(({ taskId }) => waiting.get(taskId) ?? null)
}

const input: ReadonlyArray<InputColumn<PutBack>> = [
  ['id', 'uuid', ({ taskId }) => taskId],
  ['workspace_id', 'uuid', ({ workspaceId }) => workspaceId],
  ['run_id', 'uuid', ({ runId }) => runId],
  ['delay_ms', 'float8', ({ delayMs }) => delayMs],
]
const statement = `
  WITH input AS (${inputRows(input)})
  UPDATE tasks t
  SET state = 'retrying', attempts = t.attempts - 1, run_id = NULL, lease_until = NULL, updated_at = now(),
      due_at = coalesce(clock_timestamp() + delay_ms * interval '1 millisecond', t.due_at)
  FROM input i
  WHERE t.id = i.id AND t.workspace_id = i.workspace_id AND t.run_id = i.run_id AND t.state = 'processing'
  RETURNING t.id, t.due_at AS "dueAt", clock_timestamp() AS now`
