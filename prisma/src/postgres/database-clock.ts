import type { Pool } from './pool.ts'

/** The database's clock as this process knows it, for timers. Decisions are made by the database itself. */
export type DatabaseClock = {
  /** Epoch milliseconds. */
  now(): number
  /** Measures again. Returns by how many milliseconds the database's clock has stepped since the last time. */
  refresh(): Promise<number>
}

/** Measures how far this process's monotonic clock is from the database's. */
export async function openDatabaseClock(pool: Pool): Promise<DatabaseClock> {
  let offset = await measureOffset(pool)
  return {
    now: () => performance.now() + offset,
    async refresh() {
      const before = offset
      offset = await measureOffset(pool)
      return offset - before
    },
  }
}

// The first question that is answered within a millisecond will do. Of three others the one that was answered fastest says it best.
const goodRoundTripMs = 1

async function measureOffset(pool: Pool): Promise<number> {
  let best = { roundTrip: Number.POSITIVE_INFINITY, offset: 0 }
  for (let i = 0; i < 3 && best.roundTrip > goodRoundTripMs; i++) {
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
