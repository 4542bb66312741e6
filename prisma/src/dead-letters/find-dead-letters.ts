import type { Db } from '../postgres/in-transaction.ts'
import { hasLabel } from '../tasks/task-labels.ts'
import { isDeadLetter } from '../tasks/task-row.ts'

/** A filter for dead letters; null matches any. The times limit `execute_at`: from <= t < to. */
export type DeadLetterFilter = {
  cronJobId: string | null
  topic: string | null
  executeFrom: Date | null
  executeTo: Date | null
  label: string | null
  /** A prefix. */
  name: string | null
  /** Hosts with their ports, in lower case. */
  hosts: readonly string[] | null
  /** Error codes of the last run. */
  errors: readonly string[] | null
}

/** The host of a request `r`, with its port. A question mark would be a placeholder in a list query. */
export const hostOfRequest = String.raw`lower(coalesce(substring(r.url FROM '^[^:]+://([^/#\x3f]+)'), r.url))`

/** The error code of the last run of a task `t`. A run is younger than its task, so older partitions are skipped. */
export const lastErrorOfTask = `(
  SELECT u.error_code FROM runs u WHERE u.task_id = t.id AND u.id >= uuid_v7_floor(t.created_at) ORDER BY u.id DESC LIMIT 1
)`

/** Returns the SQL of a filter, whose values are the parameters from `$first`. */
export function matches(first: number): string {
  const [cronJobId, topic, from, to, label, name, hosts, errors] = Array.from({ length: 8 }, (_, at) => first + at)
  return `($${cronJobId}::uuid IS NULL OR t.cron_job_id = $${cronJobId})
    AND ($${from}::timestamptz IS NULL OR t.execute_at >= $${from})
    AND ($${to}::timestamptz IS NULL OR t.execute_at < $${to})
    AND ($${topic}::text IS NULL OR EXISTS (SELECT FROM task_requests r WHERE r.task_id = t.id AND r.topic = $${topic}))
    AND ($${label}::text IS NULL OR ${hasLabel('t', `ARRAY[$${label}::text]`)})
    AND ($${name}::text IS NULL
      OR EXISTS (SELECT FROM task_requests r WHERE r.task_id = t.id AND starts_with(r.name, $${name})))
    AND ($${hosts}::text[] IS NULL
      OR EXISTS (SELECT FROM task_requests r WHERE r.task_id = t.id AND ${hostOfRequest} = ANY ($${hosts})))
    AND ($${errors}::text[] IS NULL OR ${lastErrorOfTask} = ANY ($${errors}))`
}

/** Returns the values for `matches`. */
export function valuesOfFilter(filter: DeadLetterFilter): unknown[] {
  const { cronJobId, topic, executeFrom, executeTo, label, name, hosts, errors } = filter
  return [cronJobId, topic, executeFrom, executeTo, label, name, hosts, errors]
}

/** Finds up to `limit` dead letters of a workspace, oldest first. */
export async function findDeadLetters(
  db: Db,
  workspaceId: string,
  filter: DeadLetterFilter,
  limit: number,
): Promise<string[]> {
  const text = `
    SELECT t.id FROM tasks t WHERE t.workspace_id = $1 AND ${isDeadLetter} AND ${matches(3)}
    ORDER BY t.id LIMIT $2`
  const { rows } = await db.query<{ id: string }>(text, [workspaceId, limit, ...valuesOfFilter(filter)])
  return rows.map(({ id }) => id)
}

/** Counts the matching dead letters of a workspace. It reads each of them. */
export async function countDeadLetters(db: Db, workspaceId: string, filter: DeadLetterFilter): Promise<number> {
  const text = `SELECT count(*)::int AS n FROM tasks t WHERE t.workspace_id = $1 AND ${isDeadLetter} AND ${matches(2)}`
  const { rows } = await db.query<{ n: number }>(text, [workspaceId, ...valuesOfFilter(filter)])
  return rows[0]?.n ?? 0
}
