import type { StateReason } from '@belfry/domain/task-state'
import type { TaskSource } from '../generated/enums.ts'
import { type Db, inTransaction } from '../postgres/in-transaction.ts'
import { type InputColumn, inputRows, inputValues } from '../postgres/statement-input.ts'
import { queueIdOf } from '../queues/queue-sql.ts'
import { countedRequests, extraRequestBytes } from '../usage/count-storage.ts'
import type { StoredRequest } from './stored-request.ts'
import { storedLabels } from './task-labels.ts'

/** The reason of an event's task that was not sent, because its subscription was switched off. */
export const missedReason = 'subscription_off' satisfies StateReason

/** Limits and marks of a task. Most tasks have none of these. */
export type TaskControls = {
  /** No attempt starts at this time or later. Default: none. */
  expiresAt?: Date | null
  /** The same as a time after `executeAt`. */
  maxAgeMs?: number | null
  /** Unique among the pending tasks of the workspace; see `storeUnderKey`. */
  key?: string | null
  /** At most ten, without commas. Null: none. */
  labels?: readonly string[] | null
}

export type NewTask = StoredRequest &
  TaskControls & {
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
    /** The subscription of the event, if it has secrets that sign the calls, or fails. Default: the secrets of the workspace sign. */
    subscriptionId?: string | null
    /** Whether `payloadOf` makes the body of the payload. Default: the payload is the body. */
    isReport?: boolean | null
    /** Stored as a dead letter, because the subscription is switched off. Default: false. */
    isMissed?: true | null
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

type Controls = TaskControls &
  Pick<NewTask, 'retryDelays' | 'qstash' | 'connection' | 'subscriptionId' | 'isReport' | 'isMissed'>

// Tasks without controls are stored by a statement that does not mention them.
const controls: ReadonlyArray<InputColumn<Controls>> = [
  ['expires_at', 'timestamptz', ({ expiresAt }) => expiresAt],
  ['max_age_ms', 'int4', ({ maxAgeMs }) => maxAgeMs],
  ['task_key', 'text', ({ key }) => key],
  ['labels', 'text', ({ labels }) => (labels?.length ? labels.join(',') : null)],
  ['retry_delays', 'text', ({ retryDelays }) => retryDelays],
  ['qstash', 'text', ({ qstash }) => qstash],
  ['connection', 'text', ({ connection }) => connection],
  ['subscription_id', 'uuid', ({ subscriptionId }) => subscriptionId],
  ['is_report', 'bool', ({ isReport }) => isReport],
  ['is_missed', 'bool', ({ isMissed }) => isMissed],
]
const controlledInput: ReadonlyArray<InputColumn<NewTask>> = [...taskInput, ...controls]

/** Returns whether `insertKeyedTasks` cannot store a task. */
export function hasControls(task: Controls): boolean {
  return controls.some(([, , of]) => of(task) != null)
}

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
  const query = tasks.some(hasControls)
    ? { name: 'insert_controlled_tasks', text: controlledStatement, values: inputValues(controlledInput, tasks) }
    : { name: 'insert_tasks', text: plainStatement, values: inputValues(taskInput, tasks) }
  return (await db.query<InsertedTask>(query)).rows
}

// MATERIALIZED: the clock is read once for each task, so its rows and its response agree.
const insertStatement = (input: ReadonlyArray<InputColumn<NewTask>>, inserted: string) => `
    WITH input AS (${inputRows(input)}),
    judged AS MATERIALIZED (
      SELECT *, execute_at IS NULL OR execute_at > clock_timestamp() AS is_stored FROM input
    ),
    ${inserted}
    SELECT id, CASE WHEN is_stored THEN now()::timestamptz(3) END AS "createdAt",
           coalesce(execute_at, now())::timestamptz(3) AS "executeAt", clock_timestamp()::timestamptz(3) AS now
    FROM judged`

/** Columns that a statement stores in addition: their names, each with its SQL. */
type MoreColumns = { tasks: Record<string, string>; requests: Record<string, string> }

/** Returns the CTEs that store tasks, their requests, and the storage that these use. */
export function insertedFrom(source: string, more: MoreColumns = { tasks: {}, requests: {} }): string {
  const [taskNames, taskValues] = [listOf(Object.keys(more.tasks)), listOf(Object.values(more.tasks))]
  const [requestNames, requestValues] = [listOf(Object.keys(more.requests)), listOf(Object.values(more.requests))]
  return `inserted AS (
      INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, event_id, replay_of, has_callbacks, queue_id${taskNames})
      SELECT id, workspace_id, source, coalesce(execute_at, now()), coalesce(execute_at, now()), event_id, replay_of,
             callbacks IS NOT NULL, ${queueIdOf('workspace_id', 'queue')}${taskValues}
      FROM ${source}
    ),
    requested AS (
      INSERT INTO task_requests (task_id, name, url, method, headers, payload, content_type, callbacks, queue,
                                 max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent,
                                 created_by, depth, extra_bytes${requestNames})
      SELECT id, name, url, method, headers, payload, content_type, callbacks, queue,
             max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic, traceparent,
             created_by, depth, ${extraRequestBytes()}${requestValues}
      FROM ${source}
    ),
    ${countedRequests(`SELECT workspace_id, payload, ${extraRequestBytes()} AS extra_bytes FROM ${source}`)}`
}

/** Returns the SQL: the time from which on no attempt starts, the maximum age of `table` after a time. Null without an age. */
export function deadlineAfter(at: string, table = ''): string {
  return `${at} + ${table}max_age_ms * interval '1 millisecond'`
}

const listOf = (texts: readonly string[]) => texts.map(text => `, ${text}`).join('')

const source = 'judged WHERE is_stored'
const labels = `string_to_array(labels, ',')`
const plainStatement = insertStatement(taskInput, insertedFrom(source))
const controlledStatement = insertStatement(
  controlledInput,
  `${insertedFrom(source, {
    tasks: {
      expires_at: `coalesce(expires_at, ${deadlineAfter('coalesce(execute_at, now())')})`,
      key: 'task_key',
      state: `CASE WHEN is_missed THEN 'dead' ELSE 'pending' END::task_state`,
      state_reason: `CASE WHEN is_missed THEN '${missedReason}' END`,
      finished_at: 'CASE WHEN is_missed THEN now() END',
    },
    requests: {
      labels,
      retry_delays: 'retry_delays',
      qstash: 'qstash',
      connection: 'connection',
      subscription_id: 'subscription_id',
      is_report: 'is_report',
    },
  })},
    ${storedLabels(`SELECT workspace_id, id AS task_id, ${labels} AS labels FROM ${source}`)}`,
)
