import { queryInIndexOrder } from '../postgres/in-index-order.ts'
import type { Pool } from '../postgres/pool.ts'
import type { WaitingRow } from './due-work.ts'
import { isWaiting, originOf } from './task-row.ts'
import { isOfShare, type TaskShare } from './task-share.ts'
import { waitingFloor } from './waiting-floor.ts'

/** Late tasks that are read to see whose they are. With fewer than this, they are all there is. */
export const lateHeadSize = 1_000
/** Workspaces that one round of the walk looks at: one look into an index each, some microseconds. */
export const workspacesPerRound = 5_000

/**
 * Finds workspaces that have a waiting task which was due more than `graceMs` ago, each with the oldest such task.
 * Remembers between calls how far its walk has come, so each caller has one of its own.
 */
export type LateSearch = (graceMs: number) => Promise<Map<string, string>>

/**
 * Opens a search for late work. It reads the oldest late tasks of all. When these are fewer than 1,000, no other task is
 * late, however many workspaces wait for next year. Otherwise some workspace has a backlog that may hide the others, so
 * each call also looks at the next 5,000 workspaces. Of W workspaces each is looked at within W / 5,000 calls, rounded up.
 */
export function openLateSearch(pool: Pool): LateSearch {
  let cursor = lowestId

  return async graceMs => {
    const head = await readHead(pool, graceMs)
    const late = new Map<string, string>()
    for (const { workspaceId, id } of head) if (!late.has(workspaceId)) late.set(workspaceId, id)
    if (head.length < lateHeadSize) return late
    let left = workspacesPerRound
    for (const start of [cursor, lowestId]) {
      const walked = await walk(pool, start, left, graceMs)
      for (const { workspaceId, id } of walked) if (id !== null) late.set(workspaceId, id)
      cursor = walked.at(-1)?.workspaceId ?? cursor
      left -= walked.length
      if (left === 0 || start === lowestId) break
    }
    return late
  }
}

/**
 * Whose due tasks to read, and behind which of them. Default: from the first on. With `share` only the tasks that belong
 * to one of `of` dispatchers, by a hash of their ids. Default: all.
 */
export type DueTasksQuery = {
  workspaceId: string
  after?: { dueAt: Date; id: string }
  share?: TaskShare
}

/** The due tasks of each workspace that is asked for, oldest first, at most `limitEach`. */
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
    queries.map(({ share }) => share?.index ?? 0),
    queries.map(({ share }) => share?.of ?? 1),
  ]
  return queryInIndexOrder(pool, { name: 'due_tasks_of', text: dueTasksStatement, values })
}

const lowestId = '00000000-0000-0000-0000-000000000000'

async function readHead(pool: Pool, graceMs: number) {
  const query = { name: 'late_head', text: lateHeadStatement, values: [graceMs] }
  return queryInIndexOrder<{ workspaceId: string; id: string }>(pool, query)
}

async function walk(pool: Pool, after: string, limit: number, graceMs: number) {
  const query = { name: 'late_workspaces', text: lateWorkspacesStatement, values: [after, limit, graceMs] }
  return queryInIndexOrder<{ workspaceId: string; id: string | null }>(pool, query)
}

// All times are bounded by now(), which an index understands: clock_timestamp() would be compared with every task of the
// future as well.
export const lateHeadStatement = `
  SELECT workspace_id AS "workspaceId", id FROM tasks
  WHERE ${isWaiting} AND due_at >= ${waitingFloor} AND due_at <= now() - $1::float8 * interval '1 millisecond'
  ORDER BY due_at, id LIMIT ${lateHeadSize}`

// The next workspace comes from its own table: at the head of a workspace in the indexes of tasks the entries of finished
// ones may lie in thousands. The first waiting task may be that of a later workspace.
export const lateWorkspacesStatement = `
  SELECT w.id AS "workspaceId",
         CASE WHEN first.workspace_id = w.id AND first.due_at <= now() - $3::float8 * interval '1 millisecond'
              THEN first.id END AS id
  FROM (SELECT id FROM workspaces WHERE id > $1 ORDER BY id LIMIT $2) w LEFT JOIN LATERAL (
    SELECT id, workspace_id, due_at FROM tasks
    WHERE ${isWaiting} AND (workspace_id, due_at) >= (w.id, ${waitingFloor})
    ORDER BY workspace_id, due_at, tasks.id LIMIT 1
  ) first ON true
  ORDER BY w.id`

// Bounded by rows of columns, which only the index of due work by workspace has in this order: the planner would otherwise
// prefer the index of states, where the entries of finished tasks lie.
export const dueTasksStatement = `
  SELECT due.id, due.due_at AS "dueAt", due.workspace_id AS "workspaceId", ${originOf('r.url')} AS origin
  FROM (
    SELECT id, greatest(after_at, floor) AS after_at, share, shares,
           CASE WHEN after_at < floor THEN '${lowestId}' ELSE after_id END AS after_id
    FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $5::int[], $6::int[])
      AS q (id, after_at, after_id, share, shares)
    CROSS JOIN (SELECT ${waitingFloor} AS floor) f
  ) w CROSS JOIN LATERAL (
    SELECT id, due_at, workspace_id FROM tasks
    WHERE ${isWaiting} AND (workspace_id, due_at, id) > (w.id, w.after_at, w.after_id)
      AND (workspace_id, due_at) <= (w.id, now()) AND ${isOfShare('id', 'w.share', 'w.shares')}
    ORDER BY workspace_id, due_at, id LIMIT $4
  ) due JOIN task_requests r ON r.task_id = due.id
  ORDER BY due.workspace_id, due.due_at, due.id`
