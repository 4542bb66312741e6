import type { Db } from '@belfry/db/postgres/in-transaction'
import { isInFlight, originOf, waitsForTime } from '@belfry/db/tasks/task-row'
import { hostOf } from '@belfry/domain/target-url'

/** How many tasks of each host are due, and how many have an attempt in flight. `isCapped`: more are due. */
export type TasksByHost = { hosts: Map<string, { waiting: number; inFlight: number }>; isCapped: boolean }

type Row = { origin: string; isWaiting: boolean; count: number }

/** Counts the tasks of a workspace by host, up to `limit` of those that are due. */
export async function countTasksByHost(db: Db, workspaceId: string, limit: number): Promise<TasksByHost> {
  const text = `
    SELECT ${originOf('r.url')} AS origin, found.is_waiting AS "isWaiting", count(*)::int AS count
    FROM (
      (SELECT id, true AS is_waiting FROM tasks t
       WHERE workspace_id = $1 AND ${waitsForTime} AND due_at <= now() ORDER BY due_at LIMIT $2)
      UNION ALL
      (SELECT id, false FROM tasks WHERE workspace_id = $1 AND ${isInFlight} LIMIT $2)
    ) found JOIN task_requests r ON r.task_id = found.id
    GROUP BY 1, 2`
  const { rows } = await db.query<Row>(text, [workspaceId, limit])
  const hosts: TasksByHost['hosts'] = new Map()
  for (const { origin, isWaiting, count } of rows) {
    // Different spellings of an origin are one host.
    const host = hostOf(origin)
    const known = hosts.get(host) ?? { waiting: 0, inFlight: 0 }
    known[isWaiting ? 'waiting' : 'inFlight'] += count
    hosts.set(host, known)
  }
  const due = rows.reduce((sum, { isWaiting, count }) => sum + (isWaiting ? count : 0), 0)
  return { hosts, isCapped: due >= limit }
}
