import type { Pool } from '../postgres/pool.ts'
import { finished } from './take-from-outbox.ts'

/** Gives up expired messages. Returns how many. */
export async function endExpiredMessages(pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE outbox SET last_error = coalesce(last_error, 'Nothing was there to send it with.'), ${finished}
     WHERE finished_at IS NULL AND due_at <= clock_timestamp() AND expires_at <= clock_timestamp()`,
  )
  return rowCount ?? 0
}

/** Deletes messages that finished more than `keptMs` ago. Returns how many. */
export async function pruneOutbox(pool: Pool, keptMs: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM outbox WHERE finished_at < clock_timestamp() - $1 * interval '1 millisecond'`,
    [keptMs],
  )
  return rowCount ?? 0
}
