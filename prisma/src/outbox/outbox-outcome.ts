import type { Pool } from '../postgres/pool.ts'

/** How a message ended; `error` says why it was given up. */
export type OutboxOutcome = { sent: boolean; error: string | null }

/** Reads how a message ended; null while it has not. */
export async function readOutboxOutcome(pool: Pool, id: string): Promise<OutboxOutcome | null> {
  const text = 'SELECT sent, last_error AS error FROM outbox WHERE id = $1 AND finished_at IS NOT NULL'
  const [row] = (await pool.query<OutboxOutcome>(text, [id])).rows
  return row ? { sent: row.sent, error: row.sent ? null : row.error } : null
}
