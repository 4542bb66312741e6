import type { StateReason } from '@belfry/domain/task-state'
import type { TaskRequest } from '../generated/client.ts'
import type { TaskSource } from '../generated/enums.ts'
import { type Db, inTransaction } from '../postgres/in-transaction.ts'
import { type InputColumn, inputRows, inputValues } from '../postgres/statement-input.ts'
import { queueIdOf } from '../queues/queue-sql.ts'
import { countedRequests, extraRequestBytes } from '../usage/count-storage.ts'
import { optionColumns, type RequestOptions, requested, type StoredRequest, usualColumns } from './stored-request.ts'
import { storedLabels } from './task-labels.ts'

/** The reason of an event's task that was not sent, because its subscription was switched off. */
export const missedReason = 'subscription_off' satisfies StateReason

/** Limits and marks of a task. Most tasks omit them all. */
export type TaskControls = {
  /** No attempt starts at this time or later. Optional. */
  expiresAt?: Date | null
  /** The same as a time after `executeAt`. */
  maxAgeMs?: number | null
  /** Unique among the pending tasks of the workspace; see `storeUnderKey`. */
  key?: string | null
  /** At most ten, without commas. Optional. */
  labels?: readonly string[] | null
}

export type NewTask = StoredRequest &
  TaskControls &
  Partial<Pick<TaskRequest, 'traceparent' | 'createdBy' | 'depth' | 'subscriptionId' | 'isReport'>> & {
    id: string
    workspaceId: string
    source: TaskSource
    /** Null means now, by the database's clock. */
    executeAt: Date | null
    name: string
    topic: string | null
    eventId: string | null
    replayOf: string | null
    /** Due now if its time comes before it is stored; see `becomesDue`. Default: it is left out. */
    runsIfPast?: true
    /** Stored as a dead letter, because the subscription is switched off. Default: false. */
    isMissed?: true | null
  }

/** `createdAt` is null when the task was refused because its time was not in the future. `now` is the database's clock. */
export type InsertedTask = { id: string; createdAt: Date | null; executeAt: Date; now: Date }

const usual: ReadonlyArray<InputColumn<NewTask>> = [
  ['name', 'text', ({ name }) => name],
  ...Object.values(usualColumns),
  ['topic', 'text', ({ topic }) => topic],
  ['traceparent', 'text', ({ traceparent }) => traceparent],
  ['created_by', 'text', ({ createdBy }) => createdBy],
  ['depth', 'int2', ({ depth }) => depth],
]

export const taskInput: ReadonlyArray<InputColumn<NewTask>> = [
  ['id', 'uuid', ({ id }) => id],
  ['workspace_id', 'uuid', ({ workspaceId }) => workspaceId],
  ['source', 'task_source', ({ source }) => source],
  ['execute_at', 'timestamptz', ({ executeAt }) => executeAt],
  ['event_id', 'uuid', ({ eventId }) => eventId],
  ['replay_of', 'uuid', ({ replayOf }) => replayOf],
  ...usual,
]

type Controls = TaskControls & RequestOptions & Pick<NewTask, 'subscriptionId' | 'isReport' | 'isMissed'>

const rare: ReadonlyArray<InputColumn<Controls>> = [
  ['labels', 'text', ({ labels }) => (labels?.length ? labels.join(',') : null)],
  ...Object.values(optionColumns),
  ['subscription_id', 'uuid', ({ subscriptionId }) => subscriptionId],
  ['is_report', 'bool', ({ isReport }) => isReport],
]

// Tasks without controls are stored by a statement that does not mention them.
const controls: ReadonlyArray<InputColumn<Controls>> = [
  ['expires_at', 'timestamptz', ({ expiresAt }) => expiresAt],
  ['max_age_ms', 'int4', ({ maxAgeMs }) => maxAgeMs],
  ['task_key', 'text', ({ key }) => key],
  ...rare,
  ['is_missed', 'bool', ({ isMissed }) => isMissed],
]
const controlledInput: ReadonlyArray<InputColumn<NewTask>> = [...taskInput, ...controls]

const plainNames = usual.map(([name]) => name)
const allNames = [...plainNames, ...rare.map(([name]) => name)]

/** The columns of a request that a task has from its cron job. */
export const copiedColumns = allNames.filter(name => name !== 'topic' && name !== 'traceparent')

/** Returns whether `insertKeyedTasks` cannot store a task. */
export function hasControls(task: Controls): boolean {
  return controls.some(([, , of]) => of(task) != null)
}

// The statement joins its rows with each other, so its time grows with the square of their number. One statement for 1,000
// tasks takes six times as long as parts of 128.
const maxPerStatement = 128

/**
 * Stores tasks, each with its request. When it rejects, nothing is stored. Leaves out a task whose time is not later
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

/** Makes a task that was left out due now, to be stored again. Returns whether it may be. */
export function becomesDue(task: NewTask): boolean {
  if (!task.runsIfPast || task.executeAt === null) return false
  task.executeAt = null
  return true
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

/**
 * Returns the CTEs that store tasks, their requests, and the storage that these use.
 * @param more - The SQL of more columns of the tasks, by their names.
 */
export function insertedFrom(source: string, more: Record<string, string> = {}, requests = plainNames): string {
  const [names, values] = [listOf(Object.keys(more)), listOf(Object.values(more))]
  return `inserted AS (
      INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, event_id, replay_of, has_callbacks, queue_id${names})
      SELECT id, workspace_id, source, coalesce(execute_at, now()), coalesce(execute_at, now()), event_id, replay_of,
             callbacks IS NOT NULL, ${queueIdOf('workspace_id', 'queue')}${values}
      FROM ${source}
    ),
    ${requested(requests, { task_id: 'id', labels }, column => column, source)},
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
  `${insertedFrom(
    source,
    {
      expires_at: `coalesce(expires_at, ${deadlineAfter('coalesce(execute_at, now())')})`,
      key: 'task_key',
      state: `CASE WHEN is_missed THEN 'dead' ELSE 'pending' END::task_state`,
      state_reason: `CASE WHEN is_missed THEN '${missedReason}' END`,
      finished_at: 'CASE WHEN is_missed THEN now() END',
    },
    allNames,
  )},
    ${storedLabels(`SELECT workspace_id, id AS task_id, ${labels} AS labels FROM ${source}`)}`,
)
