import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { describePosition } from './engine-adapter.ts'

export type ApplyOptions = {
  /** Cancels the migration that runs. It is rolled back. */
  signal?: AbortSignal
  /** Receives a line whenever other sessions prevent the migration from getting its locks. */
  onBlocked?: (line: string) => void
  /** How long a migration tries to get its locks. Default: one hour. */
  patienceMs?: number
}

type Migration = { name: string; script: string }

// While a statement waits for its lock, all later statements on the table wait behind it. One second is less than any of
// them may wait, so a create is late but does not fail.
const lockTimeoutMs = 1_000
const firstPauseMs = 1_000
const maxPauseMs = 10_000
const hourMs = 3_600_000
const maxBuilds = 5
const lockNotAvailable = '55P03'
const deadlockDetected = '40P01'

/**
 * Applies a migration, and records it in the same transaction. Statements wait for a lock for one second at most; then the
 * transaction is rolled back and tried again, so others can continue in between.
 * @param watcher - Another connection, which cancels the migration and finds the sessions that block it.
 */
export async function applyMigration(
  databaseUrl: string,
  watcher: pg.Client,
  migration: Migration,
  options: ApplyOptions,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'belfry-migrate' })
  client.on('error', () => {}) // the statement in flight fails too
  await client.connect()
  const pid = await readPid(client)
  const cancel = () => void watcher.query('SELECT pg_cancel_backend($1)', [pid]).catch(() => {})
  options.signal?.addEventListener('abort', cancel)
  try {
    await (isConcurrent(migration.script)
      ? applyConcurrently(client, migration)
      : applyWithRetries(client, pid, watcher, migration, options))
  } catch (error) {
    if (!options.signal?.aborted) throw error
    throw new Error(`Migration ${migration.name} was cancelled. Nothing of it was applied.`, { cause: error })
  } finally {
    options.signal?.removeEventListener('abort', cancel)
    await client.end()
  }
}

async function readPid(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  if (!rows[0]) throw new Error('pg_backend_pid() returned nothing.')
  return rows[0].pid
}

async function applyWithRetries(
  client: pg.Client,
  pid: number,
  watcher: pg.Client,
  migration: Migration,
  { signal, onBlocked = () => {}, patienceMs = hourMs }: ApplyOptions,
): Promise<void> {
  const giveUpAt = performance.now() + patienceMs
  let reported = ''
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    const blockers = watchBlockers(watcher, pid)
    try {
      await client.query(`BEGIN; SET LOCAL lock_timeout = ${lockTimeoutMs}`)
      await run(client, migration)
      signal?.throwIfAborted()
      await record(client, migration)
      await client.query('COMMIT')
      return
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      signal?.throwIfAborted()
      if (!isBlocked(error)) throw describe(migration, error)
      const { pids, text } = await blockers.stop()
      if (performance.now() > giveUpAt) throw new Error(describeGivingUp(migration, pids, text), { cause: error })
      if (pids.join() !== reported) onBlocked(`migration ${migration.name} waits for a lock, which is held by ${text}`)
      reported = pids.join()
      await sleep(pauseMs, undefined, signal && { signal })
    } finally {
      await blockers.stop()
    }
  }
}

async function run(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query(migration.script)
  } catch (error) {
    if (error instanceof pg.DatabaseError && !isBlocked(error))
      error.message += describePosition(migration.script, error.position)
    throw error
  }
}

async function record(client: pg.Client, { name, script }: Migration): Promise<void> {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES (gen_random_uuid(), $1, $2, clock_timestamp(), 1)`,
    [createHash('sha256').update(script).digest('hex'), name],
  )
}

function isBlocked(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === lockNotAvailable || error.code === deadlockDetected)
}

function describe({ name }: Migration, error: unknown): Error {
  return new Error(`Migration ${name} failed: ${error instanceof Error ? error.message : error}`, { cause: error })
}

function describeGivingUp({ name }: Migration, pids: number[], text: string): string {
  const end = pids.map(pid => `SELECT pg_terminate_backend(${pid});`).join(' ')
  return [
    `Migration ${name} could not get its locks. They are held by ${text}.`,
    `Nothing of it was applied. End these sessions or wait for them, and deploy again.${end && ` To end them: ${end}`}`,
  ].join('\n')
}

type Blockers = { pids: number[]; text: string }

// PostgreSQL names the blockers only while the statement waits.
function watchBlockers(watcher: pg.Client, pid: number): { stop(): Promise<Blockers> } {
  let found: Blockers = { pids: [], text: 'a session that has ended' }
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

/** True for a migration that cannot run in a transaction, and that is alone in its file for this reason. */
function isConcurrent(script: string): boolean {
  const [first = '', ...others] = statementsOf(script)
  return others.length === 0 && /\bCONCURRENTLY\b/i.test(first)
}

// It waits for its locks without blocking others, so it may wait for long. When it was interrupted earlier, either the index
// is complete, or it is invalid and built again.
async function applyConcurrently(client: pg.Client, migration: Migration): Promise<void> {
  const [statement = ''] = statementsOf(migration.script)
  const [, index] = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (?:IF NOT EXISTS )?"?(\w+)"? ON /i.exec(statement) ?? []
  for (let attempt = 1; ; attempt++) {
    try {
      const { rows } = await client.query<{ indisvalid: boolean }>(
        'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)',
        [index && `"${index}"`],
      )
      if (rows[0]?.indisvalid === false) await client.query(`DROP INDEX CONCURRENTLY "${index}"`)
      if (rows[0]?.indisvalid !== true) await run(client, migration)
      await record(client, migration)
      return
    } catch (error) {
      // PostgreSQL ends one of the two when the build and a transaction wait for each other. The next attempt removes the
      // invalid index.
      if (!isBlocked(error) || attempt === maxBuilds) throw describe(migration, error)
    }
  }
}

/** Splits a migration into its statements, without comments. Replaces the bodies of functions and DO blocks by `''`. */
export function statementsOf(sql: string): string[] {
  const bare = sql.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''").replace(/--.*$/gm, '')
  return bare
    .split(';')
    .map(text => text.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
}
