import pg from 'pg'
import { endLostConnection } from './end-lost-connection.ts'
import { typeParsers } from './parse-timestamp.ts'
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
    types: typeParsers,
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

/**
 * Waits until the database answers: 0.1 s, doubled up to 5 s, at most a minute in all. Rejects after that, and at once
 * for an error that waiting cannot mend.
 */
export async function waitForDatabase(
  pool: Pool,
  onWait: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const giveUpAt = performance.now() + 60_000
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 5000)) {
    try {
      return await pingPool(pool)
    } catch (error) {
      const hopeless = !isTransientDatabaseError(error) || performance.now() + delayMs > giveUpAt
      if (signal.aborted || hopeless) throw error
      onWait(error)
      await new Promise(resolve => setTimeout(resolve, delayMs))
    }
  }
}

/** True for errors that mean "the database is away or busy, ask again" rather than "the statement is wrong". */
export function isTransientDatabaseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return transientCode.test(code) || transientMessage.test(error.message)
}

/** True when a statement gave up waiting for a row that another transaction holds. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03'
}

/** True when a statement took longer than it may, or an operator cancelled it. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014'
}

// SQLSTATE 08 connection, 53 out of connections, memory or disk, 57P0 shutdown and start-up, 57014 and 55P03 a timeout
// of ours, 40 deadlock, 25006 a server that takes no writes for now, as during a failover; socket errors, also for want of a
// file descriptor; Prisma's P1
// (connection), P2024 (pool), P2028 and P2034 (transaction).
const transientCode =
  /^(08...|53...|57P0.|57014|55P03|40...|25006|E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN|MFILE|NFILE)|P1...|P2024|P2028|P2034)$/
const transientMessage =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|not queryable/i
