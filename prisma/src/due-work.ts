import { inTransaction, type Transaction } from './in-transaction.ts'
import type { Pool } from './pool.ts'

export type DueRow = { id: string; dueAt: Date }

/** What `withPromotion` gives its caller while nobody else can promote. */
export type PromotionTurn = {
  /** All work due before this instant has been handed to the queue. */
  watermark: Date
  marker: string
  /** The database's clock. */
  now: Date
  /** Waiting tasks due from `from` on and before `to`, in order of time, page by page. */
  waiting(from: Date, to: Date): AsyncIterable<DueRow[]>
}

const pageSize = 1000

/**
 * Takes the one row that says how far work has been handed to the queue, lets `hand` hand over what comes next, and
 * stores how far that went. Returns false at once when another scheduler has the row. Nothing is stored when `hand`
 * rejects, so the next turn repeats it; handing the same task to the queue twice is harmless.
 */
export async function withPromotion(
  pool: Pool,
  hand: (turn: PromotionTurn) => Promise<{ watermark: Date; marker: string }>,
): Promise<boolean> {
  return inTransaction(pool, async tx => {
    const { rows } = await tx.query<{ watermark: Date; marker: string; now: Date }>(
      'SELECT watermark, marker, clock_timestamp() AS now FROM promotion FOR UPDATE SKIP LOCKED',
    )
    const row = rows[0]
    if (!row) return false
    const next = await hand({ ...row, waiting: (from, to) => waitingTasks(tx, from, to) })
    await tx.query('UPDATE promotion SET watermark = $1, marker = $2', [next.watermark, next.marker])
    return true
  })
}

/**
 * Makes the next promotion start from a minute ago again, because a job that should be in the queue could not be added:
 * it may have come due while that was tried.
 */
export async function stepPromotionBack(pool: Pool): Promise<void> {
  await pool.query(`UPDATE promotion SET watermark = least(watermark, clock_timestamp() - interval '1 minute')`)
}

/** The tasks that have been waiting for longest since they were due, if that is longer than `graceMs`. */
export async function dueTasks(pool: Pool, graceMs: number, limit: number): Promise<DueRow[]> {
  const { rows } = await pool.query<DueRow>(
    `SELECT id, due_at AS "dueAt" FROM tasks
     WHERE state IN ('pending', 'retrying') AND due_at <= clock_timestamp() - $1 * interval '1 millisecond'
     ORDER BY due_at LIMIT $2`,
    [graceMs, limit],
  )
  return rows
}

/** Waiting tasks that should have been claimed more than `graceMs` ago, oldest first, page by page. */
export async function* overdueTasks(pool: Pool, graceMs: number): AsyncIterable<DueRow[]> {
  const { rows } = await pool.query<{ until: Date }>(
    `SELECT clock_timestamp() - $1 * interval '1 millisecond' AS until`,
    [graceMs],
  )
  if (rows[0]) yield* waitingTasks(pool, new Date(0), rows[0].until)
}

async function* waitingTasks(db: Pool | Transaction, from: Date, to: Date): AsyncIterable<DueRow[]> {
  let after: DueRow = { dueAt: from, id: '00000000-0000-0000-0000-000000000000' }
  for (;;) {
    const { rows } = await db.query<DueRow>(
      `SELECT id, due_at AS "dueAt" FROM tasks
       WHERE state IN ('pending', 'retrying') AND (due_at, id) > ($1, $2) AND due_at < $3
       ORDER BY due_at, id LIMIT ${pageSize}`,
      [after.dueAt, after.id, to],
    )
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return
    after = last
  }
}
