import { type KeptResponse, type KeyedRequest, keptFor, lockOf } from '../answer-once.ts'
import type { Db } from '../postgres/in-transaction.ts'
import { type InputColumn, inputRows, inputValues } from '../postgres/statement-input.ts'
import { type InsertedTask, insertedFrom, type NewTask, taskInput } from './insert-tasks.ts'

/** A task whose request may be repeated, with the response to that request. */
export type KeyedTask = { task: NewTask; request: KeyedRequest; answer: KeptResponse }

const input: ReadonlyArray<InputColumn<KeyedTask>> = [
  ...taskInput.map(([name, type, of]): InputColumn<KeyedTask> => [name, type, ({ task }) => of(task)]),
  ['lock', 'int8', ({ request }) => lockOf(request)],
  ['key', 'text', ({ request }) => request.key],
  ['request_hash', 'bytea', ({ request }) => request.hash],
  ['status', 'int2', ({ answer }) => answer.status],
  ['location', 'text', ({ answer }) => answer.location],
  ['answer', 'text', ({ answer }) => answer.answer],
]

/**
 * Stores tasks together with the responses to their requests: `answerOnce` for many requests, in one statement. Leaves out
 * a task, with `createdAt` null, whose time has come already, or whose key is used or locked by another request. The caller
 * passes these to `answerOnce`. No two requests may have the same key.
 * @param timeMark - The placeholder in the responses for the time of creation.
 */
export async function insertKeyedTasks(db: Db, tasks: readonly KeyedTask[], timeMark: string): Promise<InsertedTask[]> {
  const values = [...inputValues(input, tasks), timeMark]
  const { rows } = await db.query<InsertedTask>({ name: 'insert_keyed_tasks', text: statement, values })
  return rows
}

// The advisory lock excludes concurrent requests with the same key. The unique key excludes earlier ones, unless their row
// has expired.
const statement = `
    WITH input AS (${inputRows(input)}),
    judged AS MATERIALIZED (
      SELECT *, CASE WHEN execute_at IS NULL OR execute_at > clock_timestamp()
                     THEN pg_try_advisory_xact_lock(lock) ELSE false END AS is_first
      FROM input
    ),
    kept AS (
      INSERT INTO idempotency_keys (workspace_id, key, request_hash, status, location, answer)
      SELECT workspace_id, key, request_hash, status, location,
             replace(answer, $${input.length + 1}::text,
                     to_char(now()::timestamptz(3) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      FROM judged WHERE is_first
      ON CONFLICT (workspace_id, key) DO UPDATE
      SET request_hash = excluded.request_hash, status = excluded.status, location = excluded.location,
          answer = excluded.answer, created_at = excluded.created_at
      WHERE idempotency_keys.created_at <= now() - ${keptFor}
      RETURNING workspace_id, key
    ),
    stored AS MATERIALIZED (SELECT judged.* FROM judged JOIN kept USING (workspace_id, key) WHERE is_first),
    ${insertedFrom('stored')}
    SELECT judged.id, CASE WHEN stored.id IS NOT NULL THEN now()::timestamptz(3) END AS "createdAt",
           coalesce(judged.execute_at, now())::timestamptz(3) AS "executeAt", clock_timestamp()::timestamptz(3) AS now
    FROM judged LEFT JOIN stored ON stored.id = judged.id`
