import type { Db } from '../postgres/in-transaction.ts'
import { isUnsent } from './send-journal.ts'
import { countedFailures, stoppedColumns } from './task-row.ts'

/** `cancel`: pending tasks are cancelled. `stop`: retrying tasks are dead. */
export type EndAction = 'cancel' | 'stop'

/** The state of the tasks that each action ends. */
export const endedState = { cancel: 'pending', stop: 'retrying' } as const

/**
 * Ends tasks of a workspace. Skips tasks in other states.
 * @returns How many were ended, and which are prefetched: their attempts may start, or they may wait again.
 */
export async function endTasks(db: Db, workspaceId: string, taskIds: readonly string[], action: EndAction) {
  if (taskIds.length === 0) return { ended: 0, undecided: [] }
  const statement = endStatement(workspaceId, taskIds, action)
  const { values } = statement
  const end = await db.query<{ n: number }>(statement)
  const open = await db.query<{ id: string }>({ name: `${action}_undecided`, text: undecided(action), values })
  return { ended: end.rows[0]?.n ?? 0, undecided: open.rows.map(({ id }) => id) }
}

/** The statement returns how many tasks it has ended, and the time; no row when there were none. */
export function endStatement(workspaceId: string, taskIds: readonly string[], action: EndAction) {
  return { name: `${action}_tasks`, text: statements[action], values: [workspaceId, taskIds] }
}

// Locks in the order of the ids, so concurrent statements cannot deadlock.
const chosenIn = (state: string) => `
  chosen AS (
    SELECT t.id FROM tasks t WHERE t.id = ANY ($2::uuid[]) AND t.workspace_id = $1 AND t.state = '${state}'
    ORDER BY t.id FOR UPDATE
  )`

const statements: Record<EndAction, string> = {
  cancel: `
  WITH ${chosenIn(endedState.cancel)},
  ended AS (
    UPDATE tasks t SET state = 'cancelled', state_reason = 'user', finished_at = clock_timestamp(), updated_at = clock_timestamp()
    FROM chosen WHERE t.id = chosen.id
    RETURNING t.id
  )
  SELECT count(*)::int AS n, clock_timestamp() AS now FROM ended HAVING count(*) > 0`,
  stop: `
  WITH ${chosenIn(endedState.stop)},
  ended AS (
    UPDATE tasks t SET ${stoppedColumns} FROM chosen WHERE t.id = chosen.id RETURNING t.workspace_id
  ),
  ${countedFailures('ended')}
  SELECT count(*)::int AS n, clock_timestamp() AS now FROM ended HAVING count(*) > 0`,
}

// A claim may be undone between the two statements, so its task is one of them again.
const undecided = (action: EndAction) => `
  SELECT t.id FROM tasks t
  WHERE t.id = ANY ($2::uuid[]) AND t.workspace_id = $1 AND (t.state = '${endedState[action]}'
    OR t.state = 'processing' AND t.attempts ${action === 'cancel' ? '=' : '>'} 1 AND ${isUnsent})`
