import type { Pool } from './postgres/pool.ts'

/** How often one name may try: `burst` times at once, and once more each `everyMs`. */
export type Throttle = { burst: number; everyMs: number }

/**
 * Takes one of a name's turns, exactly, however many processes ask at once. What is stored is the instant at which all
 * turns would be free again; each turn moves it on by `everyMs`.
 * @returns 0 when the turn was taken, else the milliseconds after which asking again makes sense.
 */
export async function takeTurn(pool: Pool, name: string, { burst, everyMs }: Throttle): Promise<number> {
  const { rows } = await pool.query<{ waitMs: number }>({
    name: 'take_turn',
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
    values: [name, everyMs, (burst - 1) * everyMs],
  })
  const waitMs = rows[0]?.waitMs ?? everyMs
  return waitMs === 0 ? 0 : Math.max(1, Math.ceil(waitMs))
}

/** Gives back a turn that should not count. */
export async function giveTurnBack(pool: Pool, name: string, { everyMs }: Throttle): Promise<void> {
  const text = `UPDATE throttles SET free_at = free_at - $2 * interval '1 millisecond' WHERE name = $1`
  await pool.query({ name: 'give_turn_back', text, values: [name, everyMs] })
}
