import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import type pg from 'pg'
import { codeOf } from '../postgres/database-errors.ts'
import { tenantSettings } from '../postgres/scope-to.ts'
import { withClient } from '../postgres/with-client.ts'
import { withMigrationLock } from './migration-lock.ts'
import { guardedTables, rightsOn, type ServiceName, serviceNames, serviceRoles } from './service-rights.ts'
import { type LockOptions, transactWithLocks } from './transact-with-locks.ts'

/** The password of the role of each service with a separate database URL. */
export type Logins = { readonly [name in ServiceName]?: string }

type Client = Pick<pg.Client, 'query'>

/**
 * Creates the roles of the services, grants each what it needs, and sets the given passwords. Several may run at once.
 * @returns Advice about grants that need a higher role.
 */
export async function setUpRoles(databaseUrl: string, logins: Logins, options: LockOptions = {}): Promise<string[]> {
  return withMigrationLock(databaseUrl, options.signal, async connections => {
    const { client } = connections
    await createRoles(client)
    const advice = await transactWithLocks(connections, 'the grant of rights', () => grantRights(client), options)
    await setPasswords(databaseUrl, client, logins)
    return advice
  })
}

async function createRoles(client: Client): Promise<void> {
  for (const role of Object.values(serviceRoles)) {
    const { rows } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role])
    if (rows.length > 0) continue
    try {
      await client.query(`CREATE ROLE ${role} NOINHERIT NOCREATEDB NOCREATEROLE NOLOGIN`)
    } catch (error) {
      // The roles belong to the server, so a deployment of another database may have created it meanwhile.
      if (codeOf(error) !== duplicateObject && codeOf(error) !== uniqueViolation) throw error
    }
  }
}

/** Returns whether services use a database with their own roles. */
export async function usesRoles(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ uses: boolean | null }>(
    `SELECT bool_or(has_table_privilege(r.oid, c.oid, 'SELECT')) AS uses FROM pg_roles r, pg_class c
     WHERE r.rolname = $1 AND c.oid = to_regclass('_prisma_migrations')`,
    [serviceRoles.api],
  )
  return rows[0]?.uses === true
}

/**
 * Grants each role what its service needs on the tables that exist, and revokes everything else, so it may be repeated. The
 * scheduler owns the table of runs, because it makes and drops its partitions. Runs in an open transaction.
 * @returns Advice about grants that need a higher role.
 */
export async function grantRights(client: Client): Promise<string[]> {
  const tables = await readTables(client)
  if (tables.includes('runs')) await giveRunsToScheduler(client)
  await client.query(serviceNames.map(service => rightsOf(service, tables)).join('\n'))
  await guardTables(client, tables)
  const { rows } = await client.query<{ name: string | null }>(
    `SELECT to_regprocedure('expire_audit_log(uuid, integer, integer)')::text AS name`,
  )
  if (rows[0]?.name) {
    await client.query(`REVOKE ALL ON FUNCTION ${rows[0].name} FROM PUBLIC`)
    await client.query(`GRANT EXECUTE ON FUNCTION ${rows[0].name} TO ${serviceRoles.scheduler}`)
  }
  return grantStatistics(client)
}

// A role that already has its password is not changed.
async function setPasswords(databaseUrl: string, client: Client, logins: Logins): Promise<void> {
  for (const service of serviceNames) {
    const [role, password] = [serviceRoles[service], logins[service]]
    if (password === undefined) continue
    // A new role has no password yet, and an attempt would be an error in PostgreSQL's log.
    const text = 'SELECT FROM pg_roles WHERE rolname = $1 AND rolcanlogin'
    const { rowCount } = await client.query(text, [role])
    if (rowCount === 1 && (await canLogIn(databaseUrl, role, password))) continue
    await client.query(`ALTER ROLE ${role} LOGIN PASSWORD '${scramVerifier(password)}'`)
  }
}

const duplicateObject = '42710'
const uniqueViolation = '23505'

async function readTables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') ORDER BY relname`)
  return rows.map(({ name }) => name)
}

function rightsOf(service: ServiceName, tables: readonly string[]): string {
  const role = serviceRoles[service]
  const grants = tables.map(table => {
    if (service === 'scheduler' && table === 'runs') return '' // its owner
    const rights = rightsOn(service, table)
    const grant = rights === null ? '' : `GRANT ${rights} ON "${table}" TO ${role};`
    return `REVOKE ALL ON "${table}" FROM ${role}; ${grant}`
  })
  return `
    GRANT USAGE ON SCHEMA public, run_partitions TO ${role};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${role};
    ${grants.join('\n')}`
}

// The owner sees all rows, and so does a connection without a tenant, such as one with a batch of many tenants' tasks. No role
// is named, so a dump can be restored on a server without the roles.
async function guardTables(client: Client, tables: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT polrelid::regclass::text AS name FROM pg_policy WHERE polname = 'tenant'`,
  )
  for (const [table, column] of Object.entries(guardedTables)) {
    if (!tables.includes(table) || rows.some(({ name }) => name === table)) continue
    const setting = `(SELECT coalesce(current_setting('${tenantSettings[column]}', true), ''))`
    await client.query(`
      CREATE POLICY tenant ON ${table} USING (${setting} IN ('', ${column}::text));
      ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`)
  }
}

async function giveRunsToScheduler(client: Client): Promise<void> {
  const role = serviceRoles.scheduler
  const { rows } = await client.query<{ name: string; isMember: boolean }>(
    `SELECT c.oid::regclass::text AS name, pg_has_role($1, 'USAGE') AS "isMember" FROM pg_class c
     WHERE c.oid IN (SELECT relid FROM pg_partition_tree('runs'))
       AND c.relowner <> $1::regrole`,
    [role],
  )
  if (rows.length === 0) return
  // The owner of the database stays able to migrate the table.
  if (!rows[0]?.isMember) await client.query(`GRANT ${role} TO CURRENT_USER`)
  // Ownership needs the right to create in the schema for the moment of the change.
  await client.query(`GRANT CREATE ON SCHEMA run_partitions, public TO ${role}`)
  for (const { name } of rows) await client.query(`ALTER TABLE ${name} OWNER TO ${role}`)
  await client.query(`REVOKE CREATE ON SCHEMA public FROM ${role}`)
}

// Lets the scheduler see the transactions of the other roles: alerts wait for them.
async function grantStatistics(client: Client): Promise<string[]> {
  const role = serviceRoles.scheduler
  const { rows } = await client.query(
    `SELECT FROM pg_roles WHERE rolname = $1 AND rolinherit
    AND pg_has_role(oid, 'pg_read_all_stats', 'MEMBER')`,
    [role],
  )
  if (rows.length > 0) return []
  await client.query('SAVEPOINT statistics')
  try {
    await client.query(`GRANT pg_read_all_stats TO ${role}; ALTER ROLE ${role} INHERIT`)
    return []
  } catch {
    await client.query('ROLLBACK TO SAVEPOINT statistics')
    return [`Run as a superuser: GRANT pg_read_all_stats TO ${role}. Without it alerts can miss late commits.`]
  }
}

async function canLogIn(databaseUrl: string, role: string, password: string): Promise<boolean> {
  const connectionString = Object.assign(new URL(databaseUrl), {
    username: role,
    password: encodeURIComponent(password),
  }).href
  try {
    await withClient({ connectionString }, async () => {})
    return true
  } catch (error) {
    if (/^28/.test(codeOf(error))) return false
    throw error
  }
}

// What PostgreSQL would store for the password, so the password itself does not appear in statements and logs (RFC
// 5803).
function scramVerifier(password: string): string {
  const iterations = 4096
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const keyOf = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`
}
