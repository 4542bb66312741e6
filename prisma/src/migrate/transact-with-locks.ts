import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { codeOf, isLockTimeout } from '../postgres/database-errors.ts'
import { withClient } from '../postgres/with-client.ts'

export type LockOptions = {
  /** Cancels the statement that runs. Its transaction is rolled back. */
  signal?: AbortSignal
  /** Receives a line whenever other sessions prevent the transaction from getting its locks. */
  onBlocked?: (line: string) => void
  /** How long a transaction tries to get its locks, and until it has seen who holds them. Default: one hour. */
  patienceMs?: number
}

export type Connections = {
  client: pg.Client
  /** The backend of the client. */
  pid: number
  /** Another connection. It finds the sessions that block the client. */
  watcher: pg.Client
}

export async function withConnections<T>(
  databaseUrl: string,
  application_name: string,
  work: (connections: Connections) => Promise<T>,
): Promise<T> {
  const config = { connectionString: databaseUrl, application_name }
  return withClient(config, watcher =>
    withClient(config, async client => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      return work({ client, watcher, pid: rows[0]?.pid ?? 0 })
    }),
  )
}

// While a statement waits for its lock, all later statements on the table wait behind it. One second is less than any of
// them may wait, so a create is late but does not fail.
const lockTimeoutMs = 1_000
const firstPauseMs = 1_000
const maxPauseMs = 10_000
const hourMs = 3_600_000
const deadlockDetected = '40P01'

/**
 * Runs statements in one transaction. Each waits for a lock for one second at most; then the transaction is rolled back and
 * tried again, so others can continue in between.
 * @param title - What the transaction does, for messages, such as `migration 20270101000000_add_note`.
 */
export async function transactWithLocks<T>(
  { client, pid, watcher }: Connections,
  title: string,
  work: () => Promise<T>,
  { signal, onBlocked = () => {}, patienceMs = hourMs }: LockOptions = {},
): Promise<T> {
  const giveUpAt = performance.now() + patienceMs
  let reported = ''
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    const blockers = watchBlockers(watcher, pid)
    try {
      await client.query(`BEGIN; SET LOCAL lock_timeout = ${lockTimeoutMs}`)
      const result = await work()
      signal?.throwIfAborted()
      await client.query('COMMIT')
      return result
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      signal?.throwIfAborted()
      if (!isBlocked(error)) throw error
      const { pids, text } = await blockers.stop()
      // A late look finds nothing. When several do, the holder is no session, e.g. a prepared transaction.
      const isCertain = pids.length > 0 || pauseMs === maxPauseMs
      if (isCertain && performance.now() > giveUpAt)
        throw new Error(describeGivingUp(title, pids, text), { cause: error })
      if (pids.length > 0 && pids.join() !== reported) {
        onBlocked(`${title} waits for a lock, which is held by ${text}`)
        reported = pids.join()
      }
      await sleep(pauseMs, undefined, signal && { signal })
    } finally {
      await blockers.stop()
    }
  }
}

export function isBlocked(error: unknown): boolean {
  return isLockTimeout(error) || codeOf(error) === deadlockDetected
}

function describeGivingUp(title: string, pids: number[], text: string): string {
  const end = pids.map(pid => `SELECT pg_terminate_backend(${pid});`).join(' ')
  return [
    `${title[0]?.toUpperCase()}${title.slice(1)} could not get its locks. They are held by ${text}.`,
    `Nothing of it was applied. End these sessions or wait for them, and deploy again.${end && ` To end them: ${end}`}`,
  ].join('\n')
}

type Blockers = { pids: number[]; text: string }

// PostgreSQL names the blockers only while the statement waits.
function watchBlockers(watcher: pg.Client, pid: number): { stop(): Promise<Blockers> } {
  let found: Blockers = { pids: [], text: 'a session that was not found' }
  let reading = Promise.resolve()
  const timer = setInterval(() => {
    reading = reading.then(async () => {
      const blockers = await readBlockers(watcher, pid)
      if (blockers.pids.length > 0) found = blockers
    })
    reading = reading.catch(() => {})
  }, lockTimeoutMs / 5)
  return {
    async stop() {
      clearInterval(timer)
      await reading
      return found
    },
  }
}

async function readBlockers(watcher: pg.Client, pid: number): Promise<Blockers> {
  const { rows } = await watcher.query<{ pid: number; application: string; seconds: number | null; query: string }>(
    `SELECT pid, coalesce(nullif(application_name, ''), usename, backend_type) AS application,
            extract(epoch FROM clock_timestamp() - xact_start)::int AS seconds,
            left(regexp_replace(query, '\\s+', ' ', 'g'), 100) AS query
     FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1)) ORDER BY pid`,
    [pid],
  )
  const texts = rows.map(
    row => `pid ${row.pid} (${row.application}, in a transaction for ${row.seconds ?? 0} s: ${row.query})`,
  )
  return { pids: rows.map(row => row.pid), text: texts.join(' and ') }
}
