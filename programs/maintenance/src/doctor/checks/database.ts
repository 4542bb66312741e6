import { join } from 'node:path'
import { type MigrationHistory, readMigrationHistory } from '@belfry/db/migrate/read-history'
import { findMissingRights } from '@belfry/db/migrate/service-rights'
import { openDatabaseClock } from '@belfry/db/postgres/database-clock'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { inspectDatabase } from '@belfry/db/postgres/inspect-database'
import type { Pool } from '@belfry/db/postgres/pool'
import { probeWrite } from '@belfry/db/postgres/probe-write'
import { withClient } from '@belfry/db/postgres/with-client'
import { checkout, codeOf, reasonOf } from '@belfry/launcher'
import { type Observation, ok, problem, warning } from '../finding.ts'
import type { ProcessReport } from './processes.ts'

const minVersion = 15
// One api, one scheduler and one dispatcher: docs/self-hosting.md#connections-and-poolers.
const neededConnections = 40
const maxIdleMinutes = 5

/** Connects once. The other checks need this to succeed. */
export async function checkConnection(databaseUrl: string): Promise<Observation[]> {
  const { hostname, port, pathname } = new URL(databaseUrl)
  const place = `${hostname}:${port || 5432}${pathname}`
  const text = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number`
  try {
    const { rows } = await withClient({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 }, client =>
      client.query<{ version: string; number: number }>(text),
    )
    const [{ version, number } = { version: '', number: 0 }] = rows
    if (number >= minVersion * 10_000) return [ok(`PostgreSQL ${version} at ${place}`)]
    return [problem(`PostgreSQL ${version} is too old.`, `Upgrade it to version ${minVersion} or newer.`)]
  } catch (error) {
    return [explainRefusal(error, ` at ${place}`)]
  }
}

/** Explains why PostgreSQL, at this place or at each of several hosts, was unusable. */
export function explainRefusal(error: unknown, place = ''): Observation {
  const advice = advices[codeOf(error) ?? ''] ?? 'Check the network, the firewall and the log of PostgreSQL.'
  return problem(`PostgreSQL${place} does not accept the connection: ${reasonOf(error)}`, advice)
}

const unknownName = 'DNS does not know this name. Correct the host in DATABASE_URL.'
const signIn = 'Correct the user and the password in DATABASE_URL.'
const advices: Record<string, string> = {
  ECONNREFUSED: 'No server listens there. Start PostgreSQL, or correct the host and the port in DATABASE_URL.',
  ENOTFOUND: unknownName,
  EAI_AGAIN: unknownName,
  '28P01': signIn,
  '28000': signIn,
  '3D000': 'Create the database, or correct its name in DATABASE_URL.',
  '25006': 'Promote a standby, or correct the hosts in DATABASE_URL.',
  '53300': 'All connections are taken. Raise max_connections, or stop the clients that hold them.',
}

/** Checks what PostgreSQL guarantees and allows. */
export async function checkServer(pool: Pool): Promise<Observation[]> {
  const groups = await Promise.all([
    inspectDatabase(pool).then(found => found.map(text => problem(text, 'Then reload PostgreSQL.'))),
    checkWrites(pool),
    checkConnections(pool),
    checkRights(pool),
    checkMaintenance(pool),
  ])
  const found = groups.flat()
  return found.length > 0 ? found : [ok('PostgreSQL is durable, writable, and has connections and rights')]
}

async function checkWrites(pool: Pool): Promise<Observation[]> {
  try {
    await probeWrite(pool)
    return []
  } catch (error) {
    const isReadOnly = codeOf(error) === '25006'
    const advice = isReadOnly
      ? 'It is a standby or default_transaction_read_only is on. Point DATABASE_URL to the primary.'
      : 'Its disk may be full. Free space, then look into the log of PostgreSQL.'
    return [problem(`PostgreSQL accepts no writes: ${reasonOf(error)}`, advice)]
  }
}

async function checkConnections(pool: Pool): Promise<Observation[]> {
  const { rows } = await pool.query<{ usable: number; taken: number }>(`
    SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS usable,
           (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS taken`)
  const [{ usable, taken } = { usable: 0, taken: 0 }] = rows
  if (usable < neededConnections) {
    const message = `max_connections allows ${usable} connections; one of each service may open ${neededConnections}.`
    return [problem(message, `Set max_connections to ${neededConnections + 20} or more and restart PostgreSQL.`)]
  }
  if (taken < usable * 0.85) return []
  return [
    warning(
      `${taken} of ${usable} connections are taken.`,
      'Raise max_connections, or run fewer processes: docs/self-hosting.md#connections-and-poolers.',
    ),
  ]
}

async function checkRights(pool: Pool): Promise<Observation[]> {
  const { service, missing } = await findMissingRights(pool)
  const { rows } = await pool.query<{ role: string }>('SELECT current_user AS role')
  if (missing.length === 0) return []
  const shown = missing.slice(0, 3).join(', ')
  const rest = missing.length > 3 ? ` and ${missing.length - 3} more` : ''
  return [
    problem(
      `The role ${rows[0]?.role} lacks rights of the ${service}: ${shown}${rest}.`,
      'Run the command grant-roles as the owner of the database: docs/self-hosting.md#database-roles.',
    ),
  ]
}

async function checkMaintenance(pool: Pool): Promise<Observation[]> {
  const { rows } = await pool.query<{ autovacuum: string; minutes: number; pid: number | null; name: string }>(
    `SELECT current_setting('autovacuum') AS autovacuum, coalesce(extract(epoch FROM now() - t.xact_start) / 60, 0)::int AS minutes,
            t.pid, t.application_name AS name
     FROM (SELECT 1) one LEFT JOIN LATERAL (
       SELECT pid, xact_start, application_name FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY xact_start NULLS LAST LIMIT 1
     ) t ON true`,
  )
  const [row] = rows
  const found: Observation[] = []
  if (row?.autovacuum === 'off') {
    found.push(warning('autovacuum is off: tables grow and statements become slow.', 'Set autovacuum to on.'))
  }
  if (row && row.minutes >= maxIdleMinutes) {
    const message = `A transaction of ${row.name || 'another client'} (pid ${row.pid}) is open for ${row.minutes} minutes.`
    found.push(warning(message, `It blocks migrations and cleanup. End it: SELECT pg_terminate_backend(${row.pid})`))
  }
  return found
}

export function readMigrations(db: Db): Promise<MigrationHistory> {
  return readMigrationHistory(db, join(checkout, 'prisma'))
}

/** Judges the migrations. Pending ones of a stopped `npm start` are applied by its next start. */
export function judgeMigrations(history: MigrationHistory): Observation[] {
  const { pending, unknown, edited, replaced } = history
  const found: Observation[] = []
  if (pending.length > 0) {
    const message = `${pending.length} migrations of this version are not applied, first ${pending[0]}.`
    found.push(
      problem(message, 'Run the migrate image or "node prisma/dist/main.mjs deploy"; npm start does it itself.'),
    )
  }
  if (unknown.length > 0) {
    const message = `The database has ${unknown.length} migrations of a later version, last ${unknown.at(-1)}.`
    found.push(warning(message, 'A later Belfry migrated this database. Run the later version.'))
  }
  if (edited.length > 0) {
    const message = `${edited.length} migrations were applied with another text, first ${edited[0]}.`
    found.push(warning(message, 'Another build of Belfry migrated this database. Install a released version.'))
  }
  if (replaced.length > 0) {
    const message = `A later version has replaced functions of ${replaced.length} files, first ${replaced[0]}.`
    found.push(warning(message, 'A later Belfry migrated this database. Run the later version.'))
  }
  return found.length > 0 ? found : [ok('all migrations of this version are applied')]
}

const warnFromMs = 200
const problemFromMs = 5_000

/**
 * Compares the clocks of PostgreSQL, of the processes and of other servers with this machine's.
 * @param others - How far the clocks of other servers are ahead, in ms, by their name.
 */
export async function checkClocks(
  pool: Pool,
  others: Readonly<Record<string, number>>,
  processes: readonly ProcessReport[],
): Promise<Observation[]> {
  const ahead = Math.round((await openDatabaseClock(pool)).now() - Date.now())
  const skews: Record<string, number> = { ...others, PostgreSQL: ahead }
  for (const { url, skewMs } of processes) if (skewMs !== null) skews[`the process at ${url}`] = ahead - skewMs
  const found = Object.entries(skews).flatMap(([name, skewMs]) => judge(name, skewMs))
  return found.length > 0 ? found : [ok(`clocks agree: ${Object.keys(skews).join(', ')}`)]
}

function judge(name: string, skewMs: number): Observation[] {
  const distance = Math.abs(skewMs)
  if (distance < warnFromMs) return []
  const message = `The clock of ${name} is ${(distance / 1000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's.`
  const advice = 'Run NTP (chrony or systemd-timesyncd) on both machines.'
  return [distance < problemFromMs ? warning(message, advice) : problem(message, advice)]
}
