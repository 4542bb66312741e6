import type { WaitingRow } from './due-work.ts'
import type { Pool } from './pool.ts'
import { originOf } from './task-origin.ts'

// One look into an index each, some microseconds.
const mostWorkspaces = 5_000

/**
 * The workspaces that have a waiting task which was due more than `graceMs` ago, in order of their ids from `startAt` on
 * and then from the beginning. How many tasks any of them has does not matter. Looks at 5,000 workspaces at most, so
 * callers start somewhere else each time.
 */
export async function lateWorkspaces(
  pool: Pool,
  { graceMs, startAt }: { graceMs: number; startAt: string },
): Promise<string[]> {
  const upper = await scan(pool, startAt, mostWorkspaces, graceMs)
  const rest = mostWorkspaces - upper.length
  const lower = rest > 0 ? await scan(pool, lowestId, rest, graceMs) : []
  const late = [...upper, ...lower].filter(({ isLate }) => isLate).map(({ workspaceId }) => workspaceId)
  return [...new Set(late)]
}

/** Whose due tasks to read, and behind which of them. Default: from the first on. */
export type DueTasksQuery = { workspaceId: string; after?: { dueAt: Date; id: string } }

/** The due tasks of each workspace that is asked for, oldest first, `limitEach` at most. */
export async function dueTasksOf(
  pool: Pool,
  queries: readonly DueTasksQuery[],
  limitEach: number,
): Promise<WaitingRow[]> {
  const values = [
    queries.map(({ workspaceId }) => workspaceId),
    queries.map(({ after }) => (after?.dueAt ?? new Date(0)).toISOString()),
    queries.map(({ after }) => after?.id ?? lowestId),
    limitEach,
  ]
  return (await pool.query<WaitingRow>({ name: 'due_tasks_of', text: dueTasksStatement, values })).rows
}

const lowestId = '00000000-0000-0000-0000-000000000000'

async function scan(pool: Pool, after: string, limit: number, graceMs: number) {
  const query = { name: 'late_workspaces', text: lateWorkspacesStatement, values: [after, limit, graceMs] }
  return (await pool.query<{ workspaceId: string; isLate: boolean }>(query)).rows
}

const isWaiting = `state IN ('pending', 'retrying')`

// Goes from one workspace to the next through the index, without reading the tasks between.
export const lateWorkspacesStatement = `
  WITH RECURSIVE waiting (workspace_id, due_at, n) AS (
    (SELECT workspace_id, due_at, 1 FROM tasks WHERE ${isWaiting} AND workspace_id > $1
     ORDER BY workspace_id, due_at LIMIT 1)
    UNION ALL
    SELECT next.workspace_id, next.due_at, waiting.n + 1
    FROM waiting CROSS JOIN LATERAL (
      SELECT workspace_id, due_at FROM tasks WHERE ${isWaiting} AND workspace_id > waiting.workspace_id
      ORDER BY workspace_id, due_at LIMIT 1
    ) next
    WHERE waiting.n < $2
  )
  SELECT workspace_id AS "workspaceId", due_at <= clock_timestamp() - $3 * interval '1 millisecond' AS "isLate"
  FROM waiting`

export const dueTasksStatement = `
  SELECT due.id, due.due_at AS "dueAt", due.workspace_id AS "workspaceId", ${originOf('r.url')} AS origin
  FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) AS w (id, after_at, after_id) CROSS JOIN LATERAL (
    SELECT id, due_at, workspace_id FROM tasks
    WHERE workspace_id = w.id AND ${isWaiting} AND (due_at, id) > (w.after_at, w.after_id)
      AND due_at <= clock_timestamp()
    ORDER BY due_at, id LIMIT $4
  ) due JOIN task_requests r ON r.task_id = due.id
  ORDER BY due.workspace_id, due.due_at, due.id`
