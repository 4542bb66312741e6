import type { TaskSource, TaskState } from '../generated/enums.ts'
import type { Db } from '../postgres/in-transaction.ts'
import { hasLabel } from './task-labels.ts'

/** A filter of tasks; null matches any, a list any of its values. The times limit `execute_at`: from <= t < to. */
export type TaskFilter = {
  sources: readonly TaskSource[] | null
  cronJobIds: readonly string[] | null
  eventIds: readonly string[] | null
  topics: readonly string[] | null
  labels: readonly string[] | null
  queues: readonly string[] | null
  callbacksOf: readonly string[] | null
  /** A prefix. */
  name: string | null
  executeFrom: Date | null
  executeTo: Date | null
}

/** Returns the SQL of a filter for the task `t`, whose values are the parameters from `$first`. */
export function matchesFilter(first: number): string {
  const [sources, cronJobs, events, topics, labels, queues, callbacksOf, name, from, to] = Array.from(
    { length: 10 },
    (_, i) => `$${first + i}`,
  )
  return `(${sources}::task_source[] IS NULL OR t.source = ANY (${sources}::task_source[]))
    AND (${cronJobs}::uuid[] IS NULL OR t.cron_job_id = ANY (${cronJobs}::uuid[]))
    AND (${callbacksOf}::uuid[] IS NULL OR t.callback_of = ANY (${callbacksOf}::uuid[]))
    AND (${events}::uuid[] IS NULL OR t.event_id = ANY (${events}::uuid[]))
    AND (${from}::timestamptz IS NULL OR t.execute_at >= ${from}::timestamptz)
    AND (${to}::timestamptz IS NULL OR t.execute_at < ${to}::timestamptz)
    AND (${labels}::text[] IS NULL OR ${hasLabel('t', labels as string)})
    AND (${topics}::text[] IS NULL AND ${queues}::text[] IS NULL AND ${name}::text IS NULL OR EXISTS (
      SELECT FROM task_requests r WHERE r.task_id = t.id
        AND (${topics}::text[] IS NULL OR r.topic = ANY (${topics}::text[]))
        AND (${queues}::text[] IS NULL OR r.queue = ANY (${queues}::text[]))
        AND (${name}::text IS NULL OR starts_with(r.name, ${name}::text))
    ))`
}

/** Returns the values for `matchesFilter`. */
export function valuesOfFilter(filter: TaskFilter): unknown[] {
  const { sources, cronJobIds, eventIds, topics, labels, queues, callbacksOf, name, executeFrom, executeTo } = filter
  return [sources, cronJobIds, eventIds, topics, labels, queues, callbacksOf, name, executeFrom, executeTo]
}

/** A filter is checked for this many tasks at most, which takes about a third of a second. */
const maxScannedTasks = 100_000

/** `isComplete`: whether no other task of the workspace matches. */
export type MatchingTasks = { ids: string[]; isComplete: boolean }

/**
 * Finds up to `limit` tasks of a workspace in one state, newest first.
 * @param maxScanned - The filter is checked for this many tasks at most. Default: `maxScannedTasks`.
 */
export async function findMatchingTasks(
  db: Db,
  workspaceId: string,
  state: TaskState,
  filter: TaskFilter,
  limit: number,
  maxScanned = maxScannedTasks,
): Promise<MatchingTasks> {
  const text = `
    SELECT t.id FROM (
      SELECT * FROM tasks WHERE workspace_id = $1 AND state = $2::task_state
      ORDER BY workspace_id, state, id DESC LIMIT $4
    ) t WHERE ${matchesFilter(5)} LIMIT $3`
  const values = [workspaceId, state, limit, maxScanned, ...valuesOfFilter(filter)]
  const { rows } = await db.query<{ id: string }>(text, values)
  const isComplete = rows.length < limit && !(await hasMore(db, workspaceId, [state], maxScanned))
  return { ids: rows.map(({ id }) => id), isComplete }
}

/**
 * Counts the tasks of a workspace in some states, up to `max`. `isCapped`: whether there may be more.
 * @param max - Default: no limit.
 * @param maxScanned - The filter is checked for this many tasks at most. Default: `maxScannedTasks`.
 */
export async function countMatchingTasks(
  db: Db,
  workspaceId: string,
  states: readonly TaskState[],
  filter: TaskFilter,
  max: number | null = null,
  maxScanned = maxScannedTasks,
): Promise<{ count: number; isCapped: boolean }> {
  const text = `
    SELECT count(*)::int AS count FROM (
      SELECT FROM (SELECT * FROM tasks WHERE workspace_id = $1 AND state = ANY ($2::task_state[]) LIMIT $4) t
      WHERE ${matchesFilter(5)} LIMIT $3
    ) found`
  const values = [workspaceId, states, max, maxScanned, ...valuesOfFilter(filter)]
  const count = (await db.query<{ count: number }>(text, values)).rows[0]?.count ?? 0
  return { count, isCapped: count === max || (await hasMore(db, workspaceId, states, maxScanned)) }
}

// Reads entries of an index only.
async function hasMore(db: Db, workspaceId: string, states: readonly TaskState[], than: number): Promise<boolean> {
  const text = `SELECT FROM tasks WHERE workspace_id = $1 AND state = ANY ($2::task_state[]) OFFSET $3 LIMIT 1`
  return (await db.query(text, [workspaceId, states, than])).rowCount === 1
}
