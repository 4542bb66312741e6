import type { TaskSource, TaskState } from '../generated/enums.ts'
import type { Db } from '../postgres/in-transaction.ts'
import { hasLabel } from './task-labels.ts'
import { hostOfRequest, ofLastRun, pathOfRequest } from './task-row.ts'

type Lists = 'ids' | 'cronjob_id' | 'event_id' | 'callback_of' | 'topic' | 'queue' | 'label' | 'url' | ListsOfMessage

/** Of messages of the QStash interface. */
type ListsOfMessage = 'group' | 'endpoint' | 'schedule' | 'caller_ip'

/** A filter of tasks, with the names of the API. A list matches any of its values, and a missing member any task. */
export type TaskFilter = Partial<Record<Lists, string[] | undefined>> & {
  source?: TaskSource[] | undefined
  /** Why a task ended without the outcome of an attempt. */
  state_reason?: string[] | undefined
  /** A prefix. */
  name?: string | undefined
  /** `from` <= execute_at < `to`. A time is text in a stored filter. */
  from?: Date | string | undefined
  to?: Date | string | undefined
  /** Only the occurrences of cron jobs that are not due yet, or only other tasks. */
  upcoming?: boolean | undefined
  /** With its port, in lower case. */
  host?: string[] | undefined
  /** Of the last run. */
  error?: string[] | undefined
  /** Of the response of the last run, or its class, such as "5xx". */
  response_status?: string[] | undefined
  /** Of the response of the last run. */
  status?: number[] | undefined
  /** Of the URL, without the query. */
  path?: string[] | undefined
  /** `created_from` <= created_at <= `created_to`. */
  created_from?: Date | undefined
  created_to?: Date | undefined
}

type Conditions = { [name in keyof TaskFilter]: (value: string) => string }

const conditionsOfTask: Conditions = {
  ids: ids => `t.id = ANY (${ids}::uuid[])`,
  source: sources => `t.source = ANY (${sources}::task_source[])`,
  state_reason: reasons => `t.state_reason = ANY (${reasons}::text[])`,
  cronjob_id: ids => `t.cron_job_id = ANY (${ids}::uuid[])`,
  event_id: ids => `t.event_id = ANY (${ids}::uuid[])`,
  callback_of: ids => `t.callback_of = ANY (${ids}::uuid[])`,
  from: time => `t.execute_at >= ${time}::timestamptz`,
  to: time => `t.execute_at < ${time}::timestamptz`,
  created_from: time => `t.created_at >= ${time}::timestamptz`,
  created_to: time => `t.created_at <= ${time}::timestamptz`,
  upcoming: isUpcoming =>
    `(t.source = 'cron' AND t.state = 'pending' AND t.execute_at > now()) = ${isUpcoming}::boolean`,
  label: labels => hasLabel('t', labels),
  error: codes => `${ofLastRun('error_code')} = ANY (${codes}::text[])`,
  response_status: statuses =>
    `ARRAY[${ofLastRun('response_status')}::text, left(${ofLastRun('response_status')}::text, 1) || 'xx'] && ${statuses}::text[]`,
  status: statuses => `${ofLastRun('response_status')} = ANY (${statuses}::int[])`,
}

const conditionsOfRequest: Conditions = {
  topic: topics => `r.topic = ANY (${topics}::text[])`,
  queue: queues => `r.queue = ANY (${queues}::text[])`,
  name: prefix => `starts_with(r.name, ${prefix}::text)`,
  host: hosts => `${hostOfRequest} = ANY (${hosts}::text[])`,
  url: urls => `r.url = ANY (${urls}::text[])`,
  path: paths => `${pathOfRequest} = ANY (${paths}::text[])`,
  group: names => `r.qstash::json ->> 'topicName' = ANY (${names}::text[])`,
  endpoint: names => `r.qstash::json ->> 'endpointName' = ANY (${names}::text[])`,
  schedule: ids => `r.qstash::json ->> 'scheduleId' = ANY (${ids}::text[])`,
  caller_ip: addresses => `r.qstash::json ->> 'callerIP' = ANY (${addresses}::text[])`,
}

/**
 * Returns the conditions of a filter for the task `t`.
 * @param add - Adds a value to the statement, and returns its placeholder.
 */
export function conditionsOf(filter: TaskFilter, add: (value: unknown) => string): string[] {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  const select = (conditions: Conditions) =>
    given.flatMap(([name, value]) => conditions[name as keyof TaskFilter]?.(add(value)) ?? [])
  const [ofTask, ofRequest] = [select(conditionsOfTask), select(conditionsOfRequest)]
  // A subquery, because a join could read a whole table.
  return ofRequest.length === 0
    ? ofTask
    : [...ofTask, `(SELECT ${ofRequest.join(' AND ')} FROM task_requests r WHERE r.task_id = t.id)`]
}

/** Returns the SQL: the task `t` is in one of the states. */
export function isIn(...states: TaskState[]): string {
  return `t.state IN (${states.map(state => `'${state}'`).join(', ')})`
}

/** A filter is checked for at most this many tasks, in about a third of a second. */
const maxScannedTasks = 100_000

/**
 * Finds up to `limit` tasks of a workspace, newest first. `isComplete`: whether these are all tasks that match.
 * @param among - The SQL that tasks `t` are checked.
 * @param also - The SQL that few other tasks `t` are checked, too, in the same snapshot. Optional.
 * @param maxScanned - The filter is checked for this many tasks at most; null: for all. Default: `maxScannedTasks`.
 */
export async function findMatchingTasks(
  db: Db,
  workspaceId: string,
  among: string,
  filter: TaskFilter,
  limit: number,
  { also = 'false', maxScanned = maxScannedTasks }: { also?: string; maxScanned?: number | null } = {},
): Promise<{ ids: string[]; isComplete: boolean }> {
  const values: unknown[] = [workspaceId, limit, maxScanned]
  const matches = matchesOf(filter, values)
  const text = `
    WITH found AS (
      SELECT t.id FROM (
        (SELECT * FROM tasks t WHERE t.workspace_id = $1 AND ${among} ORDER BY t.workspace_id, t.state, t.id DESC LIMIT $3)
        UNION ALL
        SELECT * FROM tasks t WHERE t.workspace_id = $1 AND ${also}
      ) t WHERE ${matches} LIMIT $2
    )
    SELECT ARRAY(SELECT id FROM found) AS ids,
           (SELECT count(*) FROM found) < $2 AND ($3 IS NULL OR NOT ${hasMore(among)}) AS "isComplete"`
  const { rows } = await db.query<{ ids: string[]; isComplete: boolean }>(text, values)
  return rows[0] ?? { ids: [], isComplete: true }
}

/**
 * Counts tasks of a workspace, up to `max`. `isCapped`: whether there may be more.
 * @param among - The SQL that tasks `t` are checked.
 * @param max - Default: no limit.
 */
export async function countMatchingTasks(
  db: Db,
  workspaceId: string,
  among: string,
  filter: TaskFilter,
  max: number | null = null,
): Promise<{ count: number; isCapped: boolean }> {
  const values: unknown[] = [workspaceId, max, maxScannedTasks]
  const matches = matchesOf(filter, values)
  const text = `
    SELECT count(*)::int AS count, count(*) IS NOT DISTINCT FROM $2 OR ${hasMore(among)} AS "isCapped" FROM (
      SELECT FROM (SELECT * FROM tasks t WHERE t.workspace_id = $1 AND ${among} LIMIT $3) t WHERE ${matches} LIMIT $2
    ) found`
  const { rows } = await db.query<{ count: number; isCapped: boolean }>(text, values)
  return rows[0] ?? { count: 0, isCapped: false }
}

/** Returns the SQL of a filter, and adds its values to the values of the statement. */
export function matchesOf(filter: TaskFilter, values: unknown[]): string {
  return ['true', ...conditionsOf(filter, value => `$${values.push(value)}`)].join(' AND ')
}

// SQL: the index has more tasks than `$3`. Part of the statement that reads these, because tasks leave the index meanwhile.
function hasMore(among: string): string {
  return `EXISTS (SELECT FROM tasks t WHERE t.workspace_id = $1 AND ${among} OFFSET $3 LIMIT 1)`
}
