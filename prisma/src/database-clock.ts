import type { Pool } from './pool.ts'

/** The database's clock as this process knows it, for timers. Decisions are made by the database itself. */
export type DatabaseClock = {
  /** Epoch milliseconds. */
  now(): number
  /** Measures again; the machine's own clock may have been set since. */
  refresh(): Promise<void>
}

/** Measures how far this process's monotonic clock is from the database's. */
export async function openDatabaseClock(pool: Pool): Promise<DatabaseClock> {
  let offset = await measureOffset(pool)
  return {
    now: () => performance.now() + offset,
    async refresh() {
      offset = await measureOffset(pool)
    },
  }
}

// Of three questions the one that was answered fastest says it best.
async function measureOffset(pool: Pool): Promise<number> {
  let best = { roundTrip: Number.POSITIVE_INFINITY, offset: 0 }
  for (let i = 0; i < 3; i++) {
    const asked = performance.now()
    const { rows } = await pool.query<{ ms: number }>(
      'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
    )
    const answered = performance.now()
    const ms = rows[0]?.ms ?? Number.NaN
    if (answered - asked < best.roundTrip) best = { roundTrip: answered - asked, offset: ms - (asked + answered) / 2 }
  }
  return best.offset
}
