import type { Run, Task } from '../generated/client.ts'
import { queryInIndexOrder } from '../postgres/in-index-order.ts'
import type { Pool } from '../postgres/pool.ts'
import { maxCounted } from '../tasks/startable-tasks.ts'
import { isDeadLetter, originOf } from '../tasks/task-row.ts'

/**
 * A dead letter as operators see it, without the request that it sends. The response and the error are from the latest
 * recorded attempt: null before the first attempt, or if its run has expired.
 */
export type DeadLetter = Pick<Task, 'id' | 'workspaceId' | 'attempts' | 'createdAt' | 'dueAt'> &
  Pick<Run, 'responseStatus' | 'errorMessage'> & { origin: string; finishedAt: Date }

/** Counts the dead letters of all workspaces, up to 10,000. */
export async function countDeadLetters(pool: Pool): Promise<number> {
  const query = { name: 'count_dead_letters', text: countStatement, values: [] }
  const [row] = await queryInIndexOrder<{ count: number }>(pool, query)
  return row?.count ?? 0
}

/**
 * Lists the dead letters of all workspaces, the newest first, from position `start` to position `end` inclusive. Positions
 * beyond the count are empty.
 */
export async function listDeadLetters(pool: Pool, start: number, end: number): Promise<DeadLetter[]> {
  const limit = Math.min(end + 1, maxCounted) - start
  if (limit <= 0) return []
  const query = { name: 'list_dead_letters', text: pageStatement, values: [start, limit] }
  const page = await queryInIndexOrder<{ id: string }>(pool, query)
  const ids = page.map(({ id }) => id)
  return findDeadLetters(pool, ids)
}

/** Returns the dead letters of `ids`, the newest first. */
export async function findDeadLetters(pool: Pool, ids: readonly string[]): Promise<DeadLetter[]> {
  return (await pool.query<DeadLetter>({ name: 'find_dead_letters', text: findStatement, values: [ids] })).rows
}

const deadLetters = `
  SELECT id, finished_at FROM tasks t WHERE ${isDeadLetter} ORDER BY workspace_id DESC, id DESC LIMIT ${maxCounted}`

// There is no index of all dead letters by time. So each page reads up to 10,000 of them and sorts them.
export const pageStatement = `
  SELECT id FROM (${deadLetters}) dead_letters ORDER BY finished_at DESC, id DESC OFFSET $1 LIMIT $2`

export const countStatement = `SELECT count(*)::int AS count FROM (${deadLetters}) counted`

const findStatement = `
  SELECT t.id, t.workspace_id AS "workspaceId", ${originOf('r.url')} AS origin, t.attempts, t.created_at AS "createdAt",
         t.due_at AS "dueAt", t.finished_at AS "finishedAt", run.response_status AS "responseStatus",
         run.error_message AS "errorMessage"
  FROM tasks t JOIN task_requests r ON r.task_id = t.id
  LEFT JOIN runs run ON run.workspace_id = t.workspace_id AND run.id = t.run_id
  WHERE t.id = ANY ($1::uuid[]) AND ${isDeadLetter}
  ORDER BY t.finished_at DESC, t.id DESC`
