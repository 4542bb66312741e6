import pg from 'pg'
import { endLostConnection } from './end-lost-connection.ts'
import { longestSilenceMs, timeouts } from './timeouts.ts'

export type Pool = pg.Pool

export type PoolOptions = {
  /** Connections at most. */
  max: number
  /** Told when an idle connection breaks; the pool replaces it by itself. */
  onError: (error: Error) => void
  /**
   * Plans a prepared statement once on each connection, for any values. PostgreSQL would plan the first five executions of
   * each for the values at hand, and batches of every size on every connection are many statements. Only where all
   * statements are looked at for it. Default: false.
   */
  plansOnce?: boolean
  /** Does not wait for the disk at a commit. Only for unlogged tables, which a crash of PostgreSQL empties anyway. Default: false. */
  commitsAsync?: boolean
  /** For how long a statement waits for a row that another transaction holds. Default 5 s. */
  lockTimeoutMs?: number
  /** After how long without an answer a connection counts as lost. Default 12 s, more than a statement may take. */
  silenceMs?: number
}

// The hot statements look rows up by key, and lists go along an index as far as their page. With stale statistics (all
// tasks pending, then all finished; a workspace that had little an hour ago) the planner believes that reading the whole
// table, or all of a workspace and then sorting it, is cheaper, and is wrong by a factor of ten or a thousand.
const pointLookups = ['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'].map(
  name => `-c ${name}=off`,
)

// Longer than most chores rest: making a connection costs as much as a hundred statements.
const idleMs = 30_000

/** Opens the connections for the statements that move tasks. Connects on first use. */
export function openPool(databaseUrl: string, options: PoolOptions): Pool {
  const {
    max,
    onError,
    plansOnce = false,
    commitsAsync = false,
    lockTimeoutMs = timeouts.lock_timeout,
    silenceMs = longestSilenceMs,
  } = options
  const planning = plansOnce ? ['-c plan_cache_mode=force_generic_plan'] : []
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max,
    connectionTimeoutMillis: 5000,
    idleTimeoutMillis: idleMs,
    options: [...pointLookups, ...planning, ...(commitsAsync ? ['-c synchronous_commit=off'] : [])].join(' '),
    ...timeouts,
    lock_timeout: lockTimeoutMs,
  })
  pool.on('error', onError)
  pool.on('connect', client => {
    client.on('error', () => {}) // one that breaks between the statements of a transaction fails the next of them
    endLostConnection(client, silenceMs)
  })
  return pool
}

/** Rejects when the database does not answer. */
export async function pingPool(pool: Pool): Promise<void> {
  await pool.query('SELECT 1')
}
