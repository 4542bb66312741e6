import { NIL_UUID, toId } from '@belfry/domain/id'
import { inIndexOrder, queryInIndexOrder } from '../postgres/in-index-order.ts'
import { type Db, inTransaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { isWaiting, originOf } from './task-row.ts'
import { isOfShare, type TaskShare, wholeShare } from './task-share.ts'

export type DueRow = { id: string; dueAt: Date }

/** A waiting task, its workspace, and the origin that it calls, as its URL spells it. */
export type WaitingRow = DueRow & { workspaceId: string; origin: string }

/** Waiting tasks due from `from` to before `until`. `share`: only the tasks of one dispatcher's share. Default: all. */
type WaitingWindow = { from: Date; until: Date; share?: TaskShare }

/** One round of the promotion. Only one process at a time has one. */
export type PromotionRound = {
  /** The queue has all work due before this time. */
  watermark: Date
  marker: string
  /** The database's clock. */
  now: Date
  /** Reads as `waitingTasks` does. */
  waiting(from: Date, until: Date): AsyncIterable<WaitingRow[]>
}

export const waitingPageSize = 1_000

/**
 * Locks the row that holds how far the queue has been filled, calls `promote` for the next window, and stores the result.
 * Returns false at once when another scheduler has the row. When `promote` rejects, nothing is stored and the next round
 * repeats the window. Adding the same task to the queue twice is harmless.
 */
export async function withPromotion(
  pool: Pool,
  promote: (round: PromotionRound) => Promise<{ watermark: Date; marker: string }>,
): Promise<boolean> {
  return inTransaction(pool, async tx => {
    const { rows } = await tx.query<{ watermark: Date; marker: string; now: Date }>(
      'SELECT watermark, marker, clock_timestamp() AS now FROM promotion FOR UPDATE SKIP LOCKED',
    )
    const row = rows[0]
    if (!row) return false
    await tx.query(inIndexOrder)
    const next = await promote({ waiting: (from, until) => waitingTasks(tx, { from, until }), ...row })
    await tx.query('UPDATE promotion SET watermark = $1, marker = $2', [next.watermark, next.marker])
    return true
  })
}

/**
 * Adds jobs to the queue. When that fails, the next promotion starts a minute back and adds them again: their tasks may have
 * come due meanwhile.
 * @param onFailure - Receives the error of the queue.
 */
export async function scheduleOrStepBack(
  pool: Pool,
  schedule: () => Promise<void>,
  onFailure: (error: unknown) => void,
): Promise<void> {
  try {
    await schedule()
  } catch (error) {
    onFailure(error)
    await pool.query(`UPDATE promotion SET watermark = least(watermark, clock_timestamp() - interval '1 minute')`)
  }
}

/** Returns a waiting task in the form in which the queue takes it. */
export function toDueTask({ id, dueAt, workspaceId, origin }: DueRow & Partial<WaitingRow>) {
  return {
    id: toId('task', id),
    dueAt: dueAt.getTime(),
    ...(workspaceId !== undefined && { workspace: toId('ws', workspaceId) }),
    ...(origin !== undefined && { origin }),
  }
}

/** Reads waiting tasks in order of time from the index of due work, page by page. */
export async function* waitingTasks(db: Db, { from, until, share = wholeShare }: WaitingWindow) {
  let after: DueRow = { dueAt: from, id: NIL_UUID }
  for (;;) {
    const values = [after.dueAt, after.id, until, share.index, share.of]
    const rows = await queryInIndexOrder<WaitingRow>(db, { name: 'waiting_tasks', text: waitingStatement, values })
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < waitingPageSize) return
    after = last
  }
}

export const waitingStatement = `
  SELECT t.id, t.due_at AS "dueAt", t.workspace_id AS "workspaceId", ${originOf('r.url')} AS origin
  FROM (
    SELECT id, due_at, workspace_id FROM tasks
    WHERE ${isWaiting} AND (due_at, id) > ($1::timestamptz, $2::uuid) AND due_at < $3::timestamptz
      AND ${isOfShare('id', '$4::int', '$5::int')}
    ORDER BY due_at, id LIMIT ${waitingPageSize}
  ) t JOIN task_requests r ON r.task_id = t.id
  ORDER BY t.due_at, t.id`
