import type { TaskSource } from '../generated/enums.ts'
import { type Db, inTransaction } from '../postgres/in-transaction.ts'
import { type InputColumn, inputRows, inputValues } from '../postgres/statement-input.ts'
import { queueIdOf } from '../queues/queue-sql.ts'
import { countedPayloads } from '../usage/count-storage.ts'
import type { StoredRequest } from './stored-request.ts'

export type NewTask = StoredRequest & {
  id: string
  workspaceId: string
  source: TaskSource
  /** Null means now, by the database's clock. */
  executeAt: Date | null
  name: string
  topic: string | null
  eventId: string | null
  replayOf: string | null
  /** The caller's trace, as a W3C Trace Context header. Default: none. */
  traceparent?: string | null
  /** The public id of the user or the API key that creates the task. Default: Belfry itself. */
  createdBy?: string | null
  /** How many calls of Belfry in a row led to this task. Default: none. */
  depth?: number | null
}

/** `createdAt` is null when the task was refused because its time was not in the future. `now` is the database's clock. */
export type InsertedTask = { id: string; createdAt: Date | null; executeAt: Date; now: Date }

/** The columns of a statement that stores tasks. */
export const taskInput: ReadonlyArray<InputColumn<NewTask>> = [
  ['id', 'uuid', ({ id }) => id],
  ['workspace_id', 'uuid', ({ workspaceId }) => workspaceId],
  ['source', 'task_source', ({ source }) => source],
  ['execute_at', 'timestamptz', ({ executeAt }) => executeAt],
  ['name', 'text', ({ name }) => name],
  ['url', 'text', ({ url }) => url],
  ['method', 'text', ({ method }) => method],
  ['headers', 'text', ({ headers }) => headers],
  ['payload', 'text', ({ payload }) => payload],
  ['content_type', 'text', ({ contentType }) => contentType],
  ['callbacks', 'text', ({ callbacks }) => callbacks],
  ['max_retries', 'int2', ({ maxRetries }) => maxRetries],
  ['backoff', 'backoff', ({ backoff }) => backoff],
  ['base_delay_ms', 'int4', ({ baseDelayMs }) => baseDelayMs],
  ['max_delay_ms', 'int4', ({ maxDelayMs }) => maxDelayMs],
  ['timeout_ms', 'int4', ({ timeoutMs }) => timeoutMs],
  ['topic', 'text', ({ topic }) => topic],
  ['event_id', 'uuid', ({ eventId }) => eventId],
  ['replay_of', 'uuid', ({ replayOf }) => replayOf],
  ['traceparent', 'text', ({ traceparent }) => traceparent],
  ['created_by', 'text', ({ createdBy }) => createdBy],
  ['depth', 'int2', ({ depth }) => depth],
  ['queue', 'text', ({ queue }) => queue],
]

// The statement joins its rows with each other, so its time grows with the square of their number. One statement for 1,000
// tasks takes six times as long as parts of 128.
const maxPerStatement = 128

/**
 * Stores tasks, each with its request: all of them or, when it rejects, none. Leaves out a task whose time is not later
 * than the database's clock (spec 7, rule 1).
 */
export async function insertTasks(db: Db, tasks: readonly NewTask[]): Promise<InsertedTask[]> {
  if (tasks.length <= maxPerStatement) return insertPart(db, tasks)
  return inTransaction(db, async tx => {
    const inserted: InsertedTask[] = []
    for (let i = 0; i < tasks.length; i += maxPerStatement) {
      inserted.push(...(await insertPart(tx, tasks.slice(i, i + maxPerStatement))))
    }
    return inserted
  })
}

async function insertPart(db: Db, tasks: readonly NewTask[]): Promise<InsertedTask[]> {
  const values = inputValues(taskInput, tasks)
  const { rows } = await db.query<InsertedTask>({ name: 'insert_tasks', text: statement, values })
  return rows
}

// MATERIALIZED: the clock is read once for each task, so its rows and its response agree.
const statement = `
    WITH input AS (${inputRows(taskInput)}),
    judged AS MATERIALIZED (
      SELECT *, execute_at IS NULL OR execute_at > clock_timestamp() AS is_stored FROM input
    ),
    ${insertedFrom('judged WHERE is_stored')}
    SELECT id, CASE WHEN is_stored THEN now()::timestamptz(3) END AS "createdAt",
           coalesce(execute_at, now())::timestamptz(3) AS "executeAt", clock_timestamp()::timestamptz(3) AS now
    FROM judged`

/** Returns the CTEs that store tasks, their requests, and the storage that these use. */
export function insertedFrom(source: string): string {
  return `inserted AS (
      INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, event_id, replay_of, has_callbacks, queue_id)
      SELECT id, workspace_id, source, coalesce(execute_at, now()), coalesce(execute_at, now()), event_id, replay_of,
             callbacks IS NOT NULL, ${queueIdOf('workspace_id', 'queue')}
      FROM ${source}
    ),
    requested AS (
      INSERT INTO task_requests (task_id, name, url, method, headers, payload, content_type, callbacks, queue,
                                 max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent,
                                 created_by, depth)
      SELECT id, name, url, method, headers, payload, content_type, callbacks, queue,
             max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent,
             created_by, depth
      FROM ${source}
    ),
    ${countedPayloads(`SELECT workspace_id, payload FROM ${source}`)}`
}
