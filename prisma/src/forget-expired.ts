import type { Pool } from './pool.ts'

const batchSize = 1000

/** Removes a batch of sessions and throttles whose time is over. Returns how many rows went. */
export async function forgetExpired(pool: Pool): Promise<number> {
  const sessions = await pool.query(
    `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at < now() LIMIT ${batchSize})`,
  )
  const throttles = await pool.query(
    `DELETE FROM throttles WHERE free_at < now()
     AND name IN (SELECT name FROM throttles WHERE free_at < now() LIMIT ${batchSize})`,
  )
  return (sessions.rowCount ?? 0) + (throttles.rowCount ?? 0)
}
