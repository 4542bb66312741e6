import type { Db } from './postgres/in-transaction.ts'
import type { Pool } from './postgres/pool.ts'

/** A rate limit for one name: `burst` attempts at once, and one more each `everyMs`. */
export type Throttle = { burst: number; everyMs: number }

/**
 * Consumes one attempt of a name. The limit is exact across processes. The row stores the time at which the full burst is
 * available again; each attempt moves it by `everyMs`.
 * @param count - How many attempts to consume atomically. More than the burst need the full burst. Default: 1.
 * @returns 0 when the attempt is allowed, else the milliseconds until the next one is.
 */
export async function consumeAttempt(db: Db, name: string, { burst, everyMs }: Throttle, count = 1): Promise<number> {
  const { rows } = await db.query<{ waitMs: number }>({
    name: 'consume_attempt',
    text: `
      WITH taken AS (
        INSERT INTO throttles AS t (name, free_at) VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond')
        ON CONFLICT (name) DO UPDATE
        SET free_at = greatest(t.free_at, clock_timestamp()) + $2 * interval '1 millisecond'
        WHERE t.free_at <= clock_timestamp() + $3 * interval '1 millisecond'
        RETURNING 0 AS wait_ms
      )
      SELECT wait_ms::float8 AS "waitMs" FROM taken
      UNION ALL
      SELECT extract(epoch FROM free_at - clock_timestamp())::float8 * 1000 - $3 FROM throttles
      WHERE name = $1 AND NOT EXISTS (SELECT FROM taken)`,
    values: [name, count * everyMs, Math.max(0, burst - count) * everyMs],
  })
  const waitMs = rows[0]?.waitMs ?? everyMs
  return waitMs === 0 ? 0 : Math.max(1, Math.ceil(waitMs))
}

/** Refunds an attempt that should not count. */
export async function refundAttempt(pool: Pool, name: string, { everyMs }: Throttle): Promise<void> {
  const text = `UPDATE throttles SET free_at = free_at - $2 * interval '1 millisecond' WHERE name = $1`
  await pool.query({ name: 'refund_attempt', text, values: [name, everyMs] })
}

export async function clearAttempts(pool: Pool, name: string): Promise<void> {
  await pool.query({ name: 'clear_attempts', text: 'DELETE FROM throttles WHERE name = $1', values: [name] })
}
