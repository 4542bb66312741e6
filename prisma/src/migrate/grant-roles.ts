import type pg from 'pg'

type Client = Pick<pg.Client, 'query'>

/** The database roles of the services. Operators give them passwords. */
export const serviceRoles = ['belfry_api', 'belfry_scheduler', 'belfry_dispatcher'] as const

const credentials = [
  ...['sessions', 'api_keys', 'password_resets', 'email_confirmations', 'invitations'],
  ...['workspace_members', 'billing_accounts', 'billing_events'],
]

/**
 * The tables that a role may not use like all others: those that it can only read, those to which it can only add, and
 * those that it cannot see. A role reads and writes every other table.
 */
const exceptions = {
  belfry_api: { readOnly: [], addOnly: ['audit_log', 'operator_log'], hidden: [] },
  belfry_scheduler: {
    readOnly: ['audit_log', 'secrets', 'signing_secrets', 'data_keys'],
    addOnly: [],
    hidden: ['operator_log'],
  },
  belfry_dispatcher: {
    readOnly: [
      'mail_blocks',
      'memberships',
      'cron_jobs',
      'subscriptions',
      'integrations',
      'secrets',
      'signing_secrets',
      'data_keys',
    ],
    addOnly: [],
    hidden: ['users', 'account_log', 'audit_log', 'operator_log', 'idempotency_keys', ...credentials],
  },
} as const satisfies Record<(typeof serviceRoles)[number], Record<'readOnly' | 'addOnly' | 'hidden', readonly string[]>>

/**
 * Creates the roles of the services unless they exist, and grants each what it needs. It takes back everything else, so it
 * may be repeated, as after an upgrade with new tables. The scheduler owns the table of runs, because it makes and drops its
 * partitions.
 * @returns Advice about grants that need a higher role.
 */
export async function grantRoles(client: Client): Promise<string[]> {
  for (const role of serviceRoles) await createRole(client, role)
  await giveRunsToScheduler(client)
  for (const role of serviceRoles) {
    await client.query(`REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${role}`)
    await client.query(`GRANT USAGE ON SCHEMA public, run_partitions TO ${role}`)
    await client.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${role}`)
    for (const table of await tables(client)) {
      const rights = rightsOn(role, table)
      if (rights !== null) await client.query(`GRANT ${rights} ON "${table}" TO ${role}`)
    }
  }
  await client.query('REVOKE ALL ON FUNCTION expire_audit_log(uuid, integer, integer) FROM PUBLIC')
  await client.query('GRANT EXECUTE ON FUNCTION expire_audit_log(uuid, integer, integer) TO belfry_scheduler')
  return grantStatistics(client)
}

async function createRole(client: Client, role: string): Promise<void> {
  const { rows } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role])
  if (rows.length === 0) await client.query(`CREATE ROLE ${role} NOINHERIT NOCREATEDB NOCREATEROLE NOLOGIN`)
}

async function giveRunsToScheduler(client: Client): Promise<void> {
  // The owner of the database stays able to migrate the table.
  await client.query('GRANT belfry_scheduler TO CURRENT_USER')
  await client.query('GRANT CREATE, USAGE ON SCHEMA run_partitions TO belfry_scheduler')
  const { rows } = await client.query<{ name: string }>(`
    SELECT c.oid::regclass::text AS name FROM pg_class c
    WHERE c.oid = 'runs'::regclass OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'runs'::regclass)`)
  // Ownership needs the right to create in the schema for the moment of the change.
  await client.query('GRANT CREATE ON SCHEMA public TO belfry_scheduler')
  for (const { name } of rows) await client.query(`ALTER TABLE ${name} OWNER TO belfry_scheduler`)
  await client.query('REVOKE CREATE ON SCHEMA public FROM belfry_scheduler')
}

async function tables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') ORDER BY relname`)
  return rows.map(({ name }) => name)
}

/** Returns the rights that a service needs on a table; null for none. */
export function rightsOn(role: (typeof serviceRoles)[number], table: string): string | null {
  const isOneOf = (names: readonly string[]) => names.includes(table)
  const { readOnly, addOnly, hidden } = exceptions[role]
  if (isOneOf(hidden)) return null
  if (isOneOf(readOnly) || table === '_prisma_migrations' || table === 'suspended_workspaces') return 'SELECT'
  return isOneOf(addOnly) ? 'SELECT, INSERT' : 'SELECT, INSERT, UPDATE, DELETE'
}

// The scheduler sees the transactions of the other roles, which alerts wait for.
async function grantStatistics(client: Client): Promise<string[]> {
  await client.query('SAVEPOINT statistics')
  try {
    await client.query('GRANT pg_read_all_stats TO belfry_scheduler')
    await client.query('ALTER ROLE belfry_scheduler INHERIT')
    return []
  } catch {
    await client.query('ROLLBACK TO SAVEPOINT statistics')
    return ['Run as a superuser: GRANT pg_read_all_stats TO belfry_scheduler. Without it alerts can miss late commits.']
  }
}
