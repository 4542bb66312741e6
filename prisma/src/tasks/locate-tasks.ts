import type { Pool } from '../postgres/pool.ts'
import { type InputColumn, inputRows, inputValues } from '../postgres/statement-input.ts'
import { originOf } from './task-row.ts'

/** The workspace of a task, and the origin that it calls, as its URL spells it. */
export type TaskLocation = { taskId: string; workspaceId: string; origin: string }

/** Returns the locations of tasks in the order of `ids`; null for a task that does not wait for an attempt. */
export async function locateTasks(pool: Pool, ids: readonly string[]): Promise<Array<TaskLocation | null>> {
  const values = inputValues(locateInput, ids)
  const { rows } = await pool.query<TaskLocation>({ name: 'locate_tasks', text: locateStatement, values })
  const byId = new Map(rows.map(row => [row.taskId, row]))
  return ids.map(id => byId.get(id) ?? null)
}

export const locateInput: ReadonlyArray<InputColumn<string>> = [['id', 'uuid', id => id]]

// "NOT IN" for the same reason as in `claimStatement`.
export const locateStatement = `
    WITH input AS (${inputRows(locateInput)})
    SELECT t.id AS "taskId", t.workspace_id AS "workspaceId", ${originOf('r.url')} AS origin
    FROM input JOIN tasks t ON t.id = input.id JOIN task_requests r ON r.task_id = input.id
    WHERE t.state NOT IN ('processing', 'success', 'dead', 'cancelled')`
