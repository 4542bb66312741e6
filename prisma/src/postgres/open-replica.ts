import type { PoolClient } from 'pg'
import { isTransientDatabaseError } from './database-errors.ts'
import { openPool, type Pool, type PoolOptions } from './pool.ts'

/** A streaming replica for reads that may be somewhat old. */
export type Replica = ReturnType<typeof openReplica>

/** `maxLagMs`: how old its data may be, in milliseconds. */
type ReplicaOptions = Omit<PoolOptions, 'silenceMs'> & { maxLagMs: number }

// A frozen replica holds a read up this long, before the primary answers instead.
const silenceMs = 2_000
// Above it every second one goes, so a long delay is measured in longer steps.
const maxSamples = 100

/**
 * Opens a replica of the database of `primary`. Its age is the time since it had replayed a position of the primary's
 * log, so only the clock of this process matters, and the replica of an idle primary stays fresh.
 */
export function openReplica(primary: Pool, url: string, { maxLagMs, ...options }: ReplicaOptions) {
  const pool = openPool(url, { ...options, silenceMs })
  let samples: Array<{ lsn: string; at: number }> = []
  let freshAt = Number.NEGATIVE_INFINITY
  const ageMs = () => performance.now() - freshAt
  return {
    pool,
    /** Returns how old its data is at most, in milliseconds; Infinity when that is unknown. */
    ageMs,
    /** Compares the replica with the primary. Called twice a second. Rejects when one of them does not answer. */
    async measure(): Promise<void> {
      const at = performance.now()
      const position = await primary.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn')
      samples.push({ lsn: position.rows[0]?.lsn ?? '', at })
      if (samples.length > maxSamples) samples = samples.filter((_, index) => index % 2 === 0) // the latest stays
      // A server that is not in recovery has diverged or is about to, so it does not count as a replica.
      const { rows } = await pool.query<{ at: number | null }>(
        `SELECT max(s.at) AS at FROM unnest($1::pg_lsn[], $2::float8[]) AS s (lsn, at)
         WHERE pg_is_in_recovery() AND s.lsn <= pg_last_wal_replay_lsn()`,
        [samples.map(({ lsn }) => lsn), samples.map(sample => sample.at)],
      )
      const replayed = rows[0]?.at ?? null
      freshAt = replayed ?? Number.NEGATIVE_INFINITY
      samples = samples.filter(sample => sample.at >= freshAt)
    },
    /**
     * Whether a read may use it now: its data is not older than the bound.
     * @param since - It must have all that was committed before this time of `performance.now()`.
     */
    isFresh: (since: number): boolean => freshAt >= since && ageMs() <= maxLagMs,
    /** Keeps reads away from it until it has been measured again. */
    distrust(): void {
      freshAt = Number.NEGATIVE_INFINITY
    },
  }
}

/**
 * Returns a view of a pool that reads from a replica while it is fresh. A statement that fails because the replica does not
 * answer, or because it has to apply a conflicting change, runs on the primary. Connections and transactions are the primary's.
 * @param onReplica - The pool of the replica, with the same tenant.
 * @param since - The time of `performance.now()` up to which reads must see every commit.
 */
export function preferReplica(
  primary: Pool,
  replica: Replica,
  onReplica: Pool,
  since: number,
  onRead: (server: 'primary' | 'replica') => void,
): Pool {
  async function query(...args: Parameters<PoolClient['query']>) {
    if (replica.isFresh(since)) {
      try {
        const result = await onReplica.query(...args)
        onRead('replica')
        return result
      } catch (error) {
        if (!isTransientDatabaseError(error)) throw error
        replica.distrust()
      }
    }
    onRead('primary')
    return primary.query(...args)
  }
  const view: Pool = Object.create(primary)
  return Object.assign(view, { query })
}
