import { terminalStates } from '@belfry/domain/task-state'
import type { TaskState } from '../generated/enums.ts'
import type { Db } from '../postgres/in-transaction.ts'
import { countedRequests, extraRequestBytes } from '../usage/count-storage.ts'
import { copiedColumns, type NewTask } from './insert-tasks.ts'
import { requested } from './stored-request.ts'
import { storedLabels } from './task-labels.ts'

/** The caller that creates a task, and how many calls of Belfry in a row led to it. */
export type TaskOrigin = Pick<NewTask, 'createdBy' | 'depth'>

/** `refused` carries the state of a task that has not finished, or null when the workspace has no such task. */
export type Replay =
  | { kind: 'replayed'; id: string; dueAt: Date; now: Date }
  | { kind: 'refused'; state: TaskState | null }

/**
 * Copies a finished task as a new one, due now. Each call makes another copy. The old task stays; a dead letter or a
 * cancelled task is settled.
 */
export async function replayTask(
  db: Db,
  workspaceId: string,
  taskId: string,
  { createdBy = null, depth = null }: TaskOrigin = {},
): Promise<Replay> {
  const values = [taskId, workspaceId, terminalStates, createdBy, depth]
  const { rows } = await db.query<{ id: string; dueAt: Date; now: Date }>({ name: 'replay_task', text, values })
  if (rows[0]) return { kind: 'replayed', ...rows[0] }
  const stateText = 'SELECT state FROM tasks WHERE id = $1 AND workspace_id = $2'
  const found = await db.query<{ state: TaskState }>(stateText, [taskId, workspaceId])
  return { kind: 'refused', state: found.rows[0]?.state ?? null }
}

const text = `
  WITH finished AS (
    SELECT id, workspace_id, source, cron_job_id, event_id, callback_of, has_callbacks, queue_id, execute_at, expires_at,
           created_at, occurrence_at
    FROM tasks
    WHERE id = $1 AND workspace_id = $2 AND state = ANY ($3::task_state[])
  ),
  settled AS (
    UPDATE tasks SET settled_at = now()
    WHERE id = $1 AND workspace_id = $2 AND state IN ('dead', 'cancelled') AND settled_at IS NULL
  ),
  ${copiesOf('finished', { createdBy: '$4::text', depth: 'greatest(r.depth, $5::int2)' })}
  SELECT id, due_at AS "dueAt", clock_timestamp() AS now FROM copied`

/**
 * Returns the CTEs that copy tasks within the database. The new tasks are `copied`. A copy has no key, and as much
 * time until its deadline as the original had. Copies have the order of their originals: by `execute_at`, then by id.
 * @param part - The CTE of the tasks to copy, with `id` and the columns that a copy keeps.
 * @param sql - The SQL of the origin of the copies, by default Belfry itself, as deep as the original, and of their due
 *   time, by default now.
 */
export function copiesOf(
  part: string,
  { createdBy = 'NULL', depth = 'r.depth', dueAt = 'now()' }: { createdBy?: string; depth?: string; dueAt?: string },
): string {
  // The copies may have the same due time, so an ordered queue calls them in the order of their ids. The twelve bits after the
  // version count up to 4,096 of them.
  const place = 'row_number() OVER (ORDER BY execute_at, id) - 1'
  const random = 'right(gen_random_uuid()::text, 18)'
  // A backfilled task has the time of its occurrence in `execute_at`, but its deadline counts from its creation.
  const startOfTime = `CASE WHEN source = 'cron' AND occurrence_at IS NULL THEN greatest(execute_at, created_at) ELSE execute_at END`
  const requests = 'copied c JOIN task_requests r ON r.task_id = c.replay_of'
  const of = (column: string) => `r.${column}`
  return `
    copied AS (
      INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, cron_job_id, event_id, callback_of, has_callbacks,
                         queue_id, replay_of, expires_at)
      SELECT (left(uuid_v7(now())::text, 15) || lpad(to_hex(${place}), 3, '0') || ${random})::uuid, workspace_id, source, ${dueAt}, ${dueAt}, cron_job_id, event_id, callback_of,
             has_callbacks, queue_id, id, ${dueAt} + (expires_at - ${startOfTime})
      FROM ${part}
      RETURNING id, workspace_id, due_at, replay_of
    ),
    ${requested(['topic', ...copiedColumns], { task_id: 'c.id', created_by: createdBy, depth }, of, requests)},
    ${storedLabels(`
      SELECT c.workspace_id, c.id AS task_id, r.labels FROM ${requests}`)},
    ${countedRequests(`
      SELECT p.workspace_id, r.payload, ${extraRequestBytes(of)} AS extra_bytes
      FROM ${part} p JOIN task_requests r ON r.task_id = p.id`)}`
}
