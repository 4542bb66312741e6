import type { TaskState } from '../generated/enums.ts'
import { queryInIndexOrder } from '../postgres/in-index-order.ts'
import type { Pool } from '../postgres/pool.ts'
import { maxCounted } from './startable-tasks.ts'
import { isDeadLetter, isInFlight, originOf, waitsForTime } from './task-row.ts'
import { leaseFloor, waitingFloor } from './waiting-floor.ts'

/** Where a task is on the operators' board: in flight, due, due later, or a dead letter. Blocked and held ones are not on it. */
export type BoardState = 'active' | 'waiting' | 'delayed' | 'failed'

/** A task as operators see it, without the request that it sends. */
export type BoardTask = {
  id: string
  workspaceId: string
  origin: string
  state: TaskState
  /** Null for a task that is not on the board. */
  boardState: BoardState | null
  attempts: number
  createdAt: Date
  dueAt: Date
  updatedAt: Date
  finishedAt: Date | null
  /** The outcome of the latest recorded attempt. Null when there is none, or when its run has expired. */
  responseStatus: number | null
  errorMessage: string | null
}

/** Counts the tasks of all workspaces in a state, up to 10,000. */
export async function countBoardTasks(pool: Pool, state: BoardState): Promise<number> {
  const query = { name: `count_board_${state}`, text: boardCountStatement(state), values: [] }
  const [row] = await queryInIndexOrder<{ count: number }>(pool, query)
  return row?.count ?? 0
}

/**
 * Lists the tasks of all workspaces in a state, from position `start` to position `end` inclusive. The next due task comes
 * first; of dead letters the newest. Positions beyond the count are empty.
 */
export async function listBoardTasks(pool: Pool, state: BoardState, start: number, end: number): Promise<BoardTask[]> {
  const limit = Math.min(end + 1, maxCounted) - start
  if (limit <= 0) return []
  const query = { name: `list_board_${state}`, text: boardPageStatement(state), values: [start, limit] }
  const page = await queryInIndexOrder<{ id: string }>(pool, query)
  const ids = page.map(({ id }) => id)
  const tasks = await findBoardTasks(pool, ids)
  return tasks.filter(({ boardState }) => boardState === state) // some may have left the state since
}

/** Returns tasks in the order of `ids`, in any state. Omits unknown ids. */
export async function findBoardTasks(pool: Pool, ids: readonly string[]): Promise<BoardTask[]> {
  const { rows } = await pool.query<BoardTask>({ name: 'find_board_tasks', text: findStatement, values: [ids] })
  const byId = new Map(rows.map(row => [row.id, row]))
  return ids.flatMap(id => byId.get(id) ?? [])
}

const indexOrder: Record<BoardState, string> = {
  active: `${isInFlight} AND lease_until >= ${leaseFloor} ORDER BY lease_until`,
  waiting: `${waitsForTime} AND due_at >= ${waitingFloor} AND due_at <= now() ORDER BY due_at, id`,
  delayed: `${waitsForTime} AND due_at > now() ORDER BY due_at, id`,
  failed: `${isDeadLetter} ORDER BY workspace_id DESC, id DESC`,
}

export const boardStates = Object.keys(indexOrder) as BoardState[]

// No index has the dead letters of all workspaces by time. So each page reads up to 10,000 of them and sorts them.
export const boardPageStatement = (state: BoardState) =>
  state === 'failed'
    ? `SELECT id FROM (SELECT id, finished_at FROM tasks t WHERE ${indexOrder.failed} LIMIT ${maxCounted}) dead_letters
       ORDER BY finished_at DESC, id DESC OFFSET $1 LIMIT $2`
    : `SELECT id FROM tasks WHERE ${indexOrder[state]} OFFSET $1 LIMIT $2`

export const boardCountStatement = (state: BoardState) => `
  SELECT count(*)::int AS count FROM (SELECT FROM tasks t WHERE ${indexOrder[state]} LIMIT ${maxCounted}) counted`

const findStatement = `
  SELECT t.id, t.workspace_id AS "workspaceId", ${originOf('r.url')} AS origin, t.state, t.attempts,
         CASE WHEN ${isInFlight} THEN 'active'
              WHEN ${waitsForTime} THEN CASE WHEN t.due_at <= now() THEN 'waiting' ELSE 'delayed' END
              WHEN ${isDeadLetter} THEN 'failed' END AS "boardState",
         t.created_at AS "createdAt", t.due_at AS "dueAt", t.updated_at AS "updatedAt", t.finished_at AS "finishedAt",
         run.response_status AS "responseStatus", run.error_message AS "errorMessage"
  FROM unnest($1::uuid[]) AS asked (id)
  JOIN tasks t ON t.id = asked.id JOIN task_requests r ON r.task_id = t.id
  LEFT JOIN runs run ON run.workspace_id = t.workspace_id AND run.id = t.run_id`
