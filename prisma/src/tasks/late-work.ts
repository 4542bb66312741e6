import { NIL_UUID } from '@belfry/domain/id'
import { queryInIndexOrder } from '../postgres/in-index-order.ts'
import type { Pool } from '../postgres/pool.ts'
import type { DueRow, WaitingRow } from './due-work.ts'
import { isWaiting, originOf } from './task-row.ts'
import { isOfShare, type TaskShare, wholeShare } from './task-share.ts'
import { waitingFloor } from './waiting-floor.ts'

/** How many late tasks one search reads. When there are fewer, it has seen all of them. */
const lateHeadSize = 1_000
/** How many workspaces one search checks. Each check reads one index entry and takes some microseconds. */
const workspacesPerRound = 5_000

/** The oldest late task of a workspace. `isStuck`: it was that, too, when the search read the workspace before. */
type OldestLate = { id: string; isStuck: boolean }

/**
 * Finds workspaces with a waiting task that was due more than `graceMs` ago, each with its oldest such task. Suspended
 * workspaces are left out. A search keeps its position, and what it has found, between calls, so each caller opens its
 * own.
 */
export type LateSearch = (graceMs: number) => Promise<Map<string, OldestLate>>

/**
 * Opens a search for late work. Each call reads the 1,000 oldest late tasks. When there are fewer, no other task is late.
 * Otherwise the backlog of one workspace may hide the others, so the call also checks the next 5,000 workspaces. It
 * reaches each of W workspaces within W / 5,000 calls, rounded up.
 */
export function openLateSearch(pool: Pool): LateSearch {
  let cursor = NIL_UUID
  let known = new Map<string, string>() // the oldest late task of each workspace when it was read last

  return async graceMs => {
    const late = await find(graceMs)
    if (late.size === 0) return late
    const suspended = { name: 'suspended_workspaces', text: 'SELECT id FROM suspended_workspaces' }
    for (const { id } of (await pool.query<{ id: string }>(suspended)).rows) late.delete(id)
    return late
  }

  async function find(graceMs: number): Promise<Map<string, OldestLate>> {
    const query = { name: 'late_head', text: lateHeadStatement, values: [graceMs] }
    const head = await queryInIndexOrder<{ workspaceId: string; id: string }>(pool, query)
    const walked = head.length < lateHeadSize ? [] : await walkOn(graceMs)
    const before = known
    known = new Map(walked.length > 0 ? before : [])
    for (const { workspaceId } of walked) known.delete(workspaceId)
    const late = new Map<string, OldestLate>()
    for (const { workspaceId, id } of [...head, ...walked]) {
      if (id === null || late.has(workspaceId)) continue
      late.set(workspaceId, { id, isStuck: before.get(workspaceId) === id })
      known.set(workspaceId, id)
    }
    return late
  }

  async function walkOn(graceMs: number) {
    const walked: Array<{ workspaceId: string; id: string | null }> = []
    for (const start of [cursor, NIL_UUID]) {
      walked.push(...(await walk(pool, start, workspacesPerRound - walked.length, graceMs)))
      cursor = walked.at(-1)?.workspaceId ?? cursor
      if (walked.length === workspacesPerRound || start === NIL_UUID) break
    }
    return walked
  }
}

/**
 * A page of the due tasks of a workspace. `after`: the last task of the page before. Default: the first page. `share`: only
 * the tasks of that share. Default: all.
 */
export type DueTasksQuery = {
  workspaceId: string
  after?: DueRow
  share?: TaskShare
}

/** Reads the due tasks of workspaces, oldest first, at most `limitEach` of each workspace. */
export async function dueTasksOf(pool: Pool, queries: readonly DueTasksQuery[], limitEach: number) {
  const values = [
    queries.map(({ workspaceId }) => workspaceId),
    queries.map(({ after }) => after?.dueAt ?? new Date(0)),
    queries.map(({ after }) => after?.id ?? NIL_UUID),
    limitEach,
    queries.map(({ share = wholeShare }) => share.index),
    queries.map(({ share = wholeShare }) => share.of),
  ]
  return queryInIndexOrder<WaitingRow>(pool, { name: 'due_tasks_of', text: dueTasksStatement, values })
}

async function walk(pool: Pool, after: string, limit: number, graceMs: number) {
  const query = { name: 'late_workspaces', text: lateWorkspacesStatement, values: [after, limit, graceMs] }
  return queryInIndexOrder<{ workspaceId: string; id: string | null }>(pool, query)
}

// All times are bounded by now(), because it can bound an index scan. PostgreSQL would compare clock_timestamp() with
// each future task too.
export const lateHeadStatement = `
  SELECT workspace_id AS "workspaceId", id FROM tasks
  WHERE ${isWaiting} AND due_at >= ${waitingFloor} AND due_at <= now() - $1::float8 * interval '1 millisecond'
  ORDER BY due_at, id LIMIT ${lateHeadSize}`

// The workspaces come from their own table: in the indexes of tasks, thousands of entries of finished tasks may precede the
// first waiting one. The first waiting task found may belong to a later workspace.
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

// Row comparisons, because only the index of due work by workspace has these columns in this order. The planner would
// otherwise prefer the index of states and read the entries of finished tasks.
export const dueTasksStatement = `
  SELECT due.id, due.due_at AS "dueAt", due.workspace_id AS "workspaceId", ${originOf('r.url')} AS origin
  FROM (
    SELECT id, greatest(after_at, floor) AS after_at, share, shares,
           CASE WHEN after_at < floor THEN '${NIL_UUID}' ELSE after_id END AS after_id
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
