import pg, { type ClientBase } from 'pg'
import { parseTimestamp } from './parse-timestamp.ts'
import { targetOf } from './primary-client.ts'

export type Pool = pg.Pool

export type PoolOptions = {
  /** The name of the sessions in pg_stat_activity. Default: `belfry`. */
  name?: string
  max: number
  /** Called when an idle connection breaks. The pool replaces it. */
  onError: (error: Error) => void
  /**
   * Plans a prepared statement once on each connection, for any values. PostgreSQL would plan its first five executions for
   * their values. Only for pools whose statements have good generic plans. Default: false.
   */
  plansOnce?: boolean
  /**
   * Commits without waiting for the disk. Only for unlogged tables: a crash of PostgreSQL empties them anyway. Default:
   * false.
   */
  commitsAsync?: boolean
  /** How long a statement waits for a row lock. Default: 5 s. */
  lockTimeoutMs?: number
  /**
   * A connection in use counts as lost after this time without data. Default: 12 s, longer than the statement timeout.
   */
  silenceMs?: number
}

/** Limits how long a statement waits for a lock or a lost connection. */
export const timeouts = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 15_000,
  keepAlive: true,
}

/** A connection in use counts as lost after this time without data. Longer than any statement may take. */
export const maxSilenceMs = 12_000

// The hot statements look rows up by key, and lists read an index up to the end of their page. With outdated statistics the
// planner may prefer to scan the whole table, or to read and sort all of a workspace. That is 10 to 1,000 times slower.
const pointLookups = ['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'].map(
  name => `-c ${name}=off`,
)

// Longer than most chores pause: a new connection costs as much as a hundred statements.
const idleMs = 30_000

// An idle Belfry keeps these, so it can still work when other clients take all other connections of the server.
const minConnections = 2

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.TIMESTAMPTZ && format !== 'binary'
      ? parseTimestamp
      : pg.types.getTypeParser(oid, format as 'text'),
}

/** Opens a pool for the statements on tasks. It connects on first use. */
export function openPool(databaseUrl: string, options: PoolOptions): Pool {
  const {
    name = 'belfry',
    max,
    onError,
    plansOnce = false,
    commitsAsync = false,
    lockTimeoutMs = timeouts.lock_timeout,
    silenceMs = maxSilenceMs,
  } = options
  const planning = plansOnce ? ['-c plan_cache_mode=force_generic_plan'] : []
  const pool = new pg.Pool({
    ...targetOf(databaseUrl),
    application_name: name,
    types,
    max,
    min: Math.min(minConnections, max),
    connectionTimeoutMillis: 5000,
    idleTimeoutMillis: idleMs,
    options: [...pointLookups, ...planning, ...(commitsAsync ? ['-c synchronous_commit=off'] : [])].join(' '),
    ...timeouts,
    lock_timeout: lockTimeoutMs,
  })
  pool.on('error', onError)
  endLostConnections(pool, silenceMs)
  return pool
}

// An idle connection is silent by nature, so only connections in use are watched. What silenced one of them has usually
// silenced the idle ones too: without their end, the next statements would each wait for the loss of another connection.
function endLostConnections(pool: Pool, silenceMs: number): void {
  const watches = new Map<pg.PoolClient, SilenceWatch>()
  const idle = new Set<pg.PoolClient>()
  function endIdle(): void {
    for (const client of idle) watches.get(client)?.end()
  }
  pool.on('connect', client => {
    client.on('error', () => {}) // when idle in a transaction: its next statement fails
    watches.set(client, endLostConnection(client, silenceMs, endIdle))
  })
  pool.on('acquire', client => {
    idle.delete(client)
    watches.get(client)?.start()
  })
  pool.on('release', (_, client) => {
    idle.add(client)
    watches.get(client)?.stop()
  })
  pool.on('remove', client => {
    idle.delete(client)
    watches.delete(client)
  })
}

export async function pingPool(pool: Pool): Promise<void> {
  await pool.query('SELECT 1')
}

/**
 * Ends a connection in use that has been silent for `silenceMs`, also between the statements of a transaction. The
 * current or the next statement then fails as on any broken connection.
 *
 * The driver's `query_timeout` is not used. Its timer retains the rows of each statement until the next full garbage
 * collection. That took a tenth of the CPU time under load.
 *
 * @param onLost - Called before a silent connection is ended. Optional.
 * @returns The started watch.
 */
export function endLostConnection(client: ClientBase, silenceMs: number, onLost = () => {}) {
  const stream = (client as pg.Client).connection.stream as ClientSocket
  const end = () => void stream.destroy(new Error(`Connection terminated: silent for ${silenceMs} ms.`))
  stream.on('timeout', () => {
    // A process that was frozen first reads the data that has arrived meanwhile.
    const { bytesRead } = stream
    setImmediate(() => {
      if (stream.bytesRead !== bytesRead) return
      onLost()
      end()
    })
  })
  const start = () => void stream.setTimeout(silenceMs)
  start()
  return { start, stop: () => void stream.setTimeout(0), end }
}

type SilenceWatch = ReturnType<typeof endLostConnection>

// Each connection of a pool is a Client, whose stream is a socket.
type ClientSocket = pg.Connection['stream'] & { bytesRead: number; setTimeout(ms: number): void }
