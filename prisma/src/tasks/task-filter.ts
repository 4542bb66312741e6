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

/** Finds up to `limit` tasks of a workspace in one state, newest first. */
export async function findMatchingTasks(
  db: Db,
  workspaceId: string,
  state: TaskState,
  filter: TaskFilter,
  limit: number,
): Promise<string[]> {
  const text = `
    SELECT t.id FROM tasks t WHERE t.workspace_id = $1 AND t.state = $2::task_state AND ${matchesFilter(4)}
    ORDER BY t.workspace_id, t.state, t.id DESC LIMIT $3`
  const { rows } = await db.query<{ id: string }>(text, [workspaceId, state, limit, ...valuesOfFilter(filter)])
  return rows.map(({ id }) => id)
}

/**
 * Counts the tasks of a workspace in some states, up to `max`. It reads each task in these states until it has found `max`.
 * @param max - Default: no limit.
 */
export async function countMatchingTasks(
  db: Db,
  workspaceId: string,
  states: readonly TaskState[],
  filter: TaskFilter,
  max: number | null = null,
): Promise<number> {
  const text = `
    SELECT count(*)::int AS n FROM (
      SELECT FROM tasks t WHERE t.workspace_id = $1 AND t.state = ANY ($2::task_state[]) AND ${matchesFilter(4)} LIMIT $3
    ) found`
  const { rows } = await db.query<{ n: number }>(text, [workspaceId, states, max, ...valuesOfFilter(filter)])
  return rows[0]?.n ?? 0
}
