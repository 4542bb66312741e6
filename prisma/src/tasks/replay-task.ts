import { terminalStates } from '@belfry/domain'
import type { TaskState } from '../generated/enums.ts'
import type { Db } from '../postgres/in-transaction.ts'
import { copiesOf } from './copy-tasks.ts'

/** `refused` carries the state of a task that has not finished, or null when the workspace has no such task. */
export type Replay =
  | { kind: 'replayed'; id: string; dueAt: Date; now: Date }
  | { kind: 'refused'; state: TaskState | null }

/**
 * Copies a finished task as a new one, due now. Each call makes another copy. The old task stays; a dead letter is settled.
 */
export async function replayTask(db: Db, workspaceId: string, taskId: string): Promise<Replay> {
  const values = [taskId, workspaceId, terminalStates]
  const { rows } = await db.query<{ id: string; dueAt: Date; now: Date }>({ name: 'replay_task', text, values })
  if (rows[0]) return { kind: 'replayed', ...rows[0] }
  const stateText = 'SELECT state FROM tasks WHERE id = $1 AND workspace_id = $2'
  const found = await db.query<{ state: TaskState }>(stateText, [taskId, workspaceId])
  return { kind: 'refused', state: found.rows[0]?.state ?? null }
}

const text = `
  WITH finished AS (
    SELECT id, workspace_id, source, cron_job_id, event_id FROM tasks
    WHERE id = $1 AND workspace_id = $2 AND state = ANY ($3::task_state[])
  ),
  settled AS (
    UPDATE tasks SET settled_at = now()
    WHERE id = $1 AND workspace_id = $2 AND state = 'dead' AND settled_at IS NULL
  ),
  ${copiesOf('finished')}
  SELECT id, due_at AS "dueAt", clock_timestamp() AS now FROM copied`
