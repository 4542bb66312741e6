import type { Pool } from '../postgres/pool.ts'

/** The outcome of a message; `error` is the reason when it was not sent. */
export type OutboxOutcome = { sent: boolean; error: string | null }

/** Reads the outcome of a message; null while it is waiting. */
export async function readOutboxOutcome(pool: Pool, id: string): Promise<OutboxOutcome | null> {
  const text = 'SELECT sent, last_error AS error FROM outbox WHERE id = $1 AND finished_at IS NOT NULL'
  const [row] = (await pool.query<OutboxOutcome>(text, [id])).rows
  return row ? { sent: row.sent, error: row.sent ? null : row.error } : null
}
