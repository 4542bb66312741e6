import type { Pool } from '../postgres/pool.ts'

const batchSize = 1000

/** Deletes a batch of expired sessions, password resets, throttles and billing events. Returns how many rows it deleted. */
export async function forgetExpired(pool: Pool): Promise<number> {
  const sessions = await pool.query(
    `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at < now() LIMIT ${batchSize})`,
  )
  const resets = await pool.query(
    `DELETE FROM password_resets WHERE token_hash IN
       (SELECT token_hash FROM password_resets WHERE expires_at < now() LIMIT ${batchSize})`,
  )
  const throttles = await pool.query(
    `DELETE FROM throttles WHERE free_at < now()
     AND name IN (SELECT name FROM throttles WHERE free_at < now() LIMIT ${batchSize})`,
  )
  // The payment provider repeats an event for some days only. A month is a safe margin.
  const events = await pool.query(
    `DELETE FROM billing_events WHERE id IN
       (SELECT id FROM billing_events WHERE received_at < now() - interval '30 days' LIMIT ${batchSize})`,
  )
  return (events.rowCount ?? 0) + (sessions.rowCount ?? 0) + (resets.rowCount ?? 0) + (throttles.rowCount ?? 0)
}
