import type { Pool } from './pool.ts'

/**
 * Opens an estimate of the database's clock, for timers only: measures its offset to the monotonic clock of this process.
 * Statements decide by the clock of the database itself.
 */
export async function openDatabaseClock(pool: Pool) {
  if (__VIRTUAL_CLOCK__) return { now: () => Date.now(), refresh: async () => 0 }
  let offset = await measureOffset(pool)
  return {
    /** Epoch milliseconds. */
    now: (): number => performance.now() + offset,
    /** Measures again. Returns by how many milliseconds the estimate has changed. */
    async refresh(): Promise<number> {
      const before = offset
      offset = await measureOffset(pool)
      return offset - before
    },
  }
}

// The first round trip of at most a millisecond is precise enough. Otherwise the fastest of three counts.
const goodRoundTripMs = 1

async function measureOffset(pool: Pool): Promise<number> {
  let best = { roundTrip: Number.POSITIVE_INFINITY, offset: 0 }
  for (let i = 0; i < 3 && best.roundTrip > goodRoundTripMs; i++) {
    const sentAt = performance.now()
    const { rows } = await pool.query<{ ms: number }>(
      'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
    )
    const receivedAt = performance.now()
    const ms = rows[0]?.ms ?? Number.NaN
    const roundTrip = receivedAt - sentAt
    if (roundTrip < best.roundTrip) best = { roundTrip, offset: ms - (sentAt + receivedAt) / 2 }
  }
  return best.offset
}
