import type pg from 'pg'

/** The services, each with its own database role. */
export type ServiceName = 'api' | 'scheduler' | 'dispatcher'

export const serviceRoles = {
  api: 'belfry_api',
  scheduler: 'belfry_scheduler',
  dispatcher: 'belfry_dispatcher',
} as const satisfies Record<ServiceName, string>

export const serviceNames = Object.keys(serviceRoles) as ServiceName[] // the keys of the record above

type Rights = { [name in ServiceName]: string | null }

const all = 'SELECT, INSERT, UPDATE, DELETE'
const change = 'SELECT, INSERT, UPDATE'
const add = 'SELECT, INSERT'
const read = 'SELECT'
// The purge of a workspace deletes rows that its service may not read otherwise.
const purge = 'DELETE, SELECT (workspace_id)'
const none = null

/**
 * What each service may do with each table and view: a new one needs a line here. The scheduler also owns `runs`, because it
 * makes and drops its partitions. A row lock needs the right to update some column.
 */
const rightsByTable: Record<string, Rights> = {
  _prisma_migrations: { api: read, scheduler: read, dispatcher: read },
  account_log: { api: add, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  alert_rounds: { api: change, scheduler: change, dispatcher: change },
  // The scheduler deletes expired keys of jobs, but cannot read hashes.
  api_keys: {
    api: all,
    scheduler: 'DELETE, SELECT (id, workspace_id, expires_at, federated_credential_id)',
    dispatcher: none,
  },
  audit_log: { api: add, scheduler: add, dispatcher: none },
  // A trigger adds the entries, with the rights of the owner.
  audit_stream_entries: { api: 'SELECT, DELETE', scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  audit_streams: { api: all, scheduler: all, dispatcher: read },
  billing_accounts: { api: all, scheduler: 'SELECT, UPDATE', dispatcher: none },
  billing_events: { api: change, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  bulk_operations: { api: change, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  challenges: { api: all, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  connection_tests: { api: add, scheduler: 'SELECT, DELETE', dispatcher: 'SELECT, UPDATE' },
  connection_tokens: { api: 'SELECT, DELETE', scheduler: none, dispatcher: change },
  connections: { api: all, scheduler: none, dispatcher: read },
  cron_jobs: { api: all, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: read },
  data_keys: { api: change, scheduler: 'SELECT, DELETE', dispatcher: change },
  dispatchers: { api: read, scheduler: all, dispatcher: all },
  dispatching: { api: none, scheduler: 'SELECT, UPDATE', dispatcher: 'SELECT, UPDATE' },
  email_confirmations: { api: all, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  exchanged_tokens: { api: add, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  execution_blocks: { api: read, scheduler: all, dispatcher: all },
  failing_hosts: { api: none, scheduler: all, dispatcher: none },
  failure_states: { api: all, scheduler: purge, dispatcher: none },
  // The dispatcher reads the keys of issuers.
  federated_credentials: {
    api: all,
    scheduler: purge,
    dispatcher: 'SELECT (id, workspace_id, issuer), UPDATE (keys, keys_read_at)',
  },
  host_statistics: { api: read, scheduler: all, dispatcher: none },
  idempotency_keys: { api: all, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  // The API publishes the keys, and creates the first one. It cannot read a private key.
  identity_keys: {
    api: 'INSERT, DELETE, SELECT (id, public_key, master_key_id, wrapped_key, created_at, retires_at), UPDATE (retires_at)',
    scheduler: none,
    dispatcher: all,
  },
  integrations: { api: all, scheduler: 'SELECT, UPDATE', dispatcher: read },
  invitations: { api: all, scheduler: none, dispatcher: none },
  log_parts: { api: read, scheduler: all, dispatcher: none },
  mail_blocks: { api: change, scheduler: read, dispatcher: read },
  memberships: { api: all, scheduler: read, dispatcher: read },
  operator_log: { api: add, scheduler: read, dispatcher: none },
  organizations: { api: change, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: read },
  outbox: { api: add, scheduler: all, dispatcher: 'SELECT, UPDATE, DELETE' },
  passkeys: { api: all, scheduler: none, dispatcher: none },
  password_resets: { api: all, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  promotion: { api: change, scheduler: change, dispatcher: change },
  qstash_deduplications: { api: all, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  // Its upsert needs both rights.
  qstash_signing_keys: { api: all, scheduler: none, dispatcher: change },
  queue_starts: { api: all, scheduler: all, dispatcher: all },
  queues: { api: all, scheduler: change, dispatcher: change },
  quota_crossings: { api: none, scheduler: change, dispatcher: none },
  recovery_codes: { api: all, scheduler: none, dispatcher: none },
  resting_hosts: { api: all, scheduler: all, dispatcher: all },
  run_changes: { api: read, scheduler: all, dispatcher: add },
  run_statistics: { api: read, scheduler: all, dispatcher: none },
  runs: { api: read, scheduler: all, dispatcher: change },
  schedulers: { api: read, scheduler: all, dispatcher: none },
  secrets: { api: all, scheduler: none, dispatcher: read },
  sends: { api: read, scheduler: all, dispatcher: all },
  sessions: { api: all, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  signing_secrets: { api: all, scheduler: none, dispatcher: add },
  sql_definitions: { api: read, scheduler: read, dispatcher: read },
  storage: { api: read, scheduler: change, dispatcher: read },
  subscription_secrets: { api: all, scheduler: 'DELETE, SELECT (id, expires_at)', dispatcher: read },
  subscriptions: { api: all, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  suspended_workspaces: { api: read, scheduler: read, dispatcher: read },
  task_labels: { api: all, scheduler: all, dispatcher: none },
  task_requests: { api: change, scheduler: all, dispatcher: add },
  tasks: { api: change, scheduler: all, dispatcher: change },
  throttles: { api: all, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: none },
  // The dispatcher checks its master keys against the wrapped keys, but cannot read secrets.
  totp_factors: { api: all, scheduler: none, dispatcher: 'SELECT (id, master_key_id, wrapped_key)' },
  usage: { api: read, scheduler: change, dispatcher: change },
  usage_changes: { api: add, scheduler: all, dispatcher: add },
  usage_days: { api: read, scheduler: change, dispatcher: none },
  usage_reports: { api: none, scheduler: change, dispatcher: none },
  user_identities: { api: all, scheduler: none, dispatcher: none },
  users: { api: all, scheduler: read, dispatcher: none },
  waiting_floor: { api: change, scheduler: change, dispatcher: change },
  workspace_members: { api: all, scheduler: purge, dispatcher: none },
  // The dispatcher locks the row of a workspace while it creates a missing signing secret.
  workspaces: { api: change, scheduler: 'SELECT, UPDATE, DELETE', dispatcher: 'SELECT, UPDATE (id)' },
}

export const decidedTables = Object.keys(rightsByTable)

/** Returns the rights that a service needs on a table, separated by commas, or null. */
export function rightsOn(service: ServiceName, table: string): string | null {
  return rightsByTable[table]?.[service] ?? null
}

/**
 * The tables with row-level security, and the column that names the tenant. The reads of the API's endpoints see only rows of
 * their caller's tenant in them: docs/decisions/0022-guard-reads-by-row-level-security.md has the reasons and the figures.
 */
export const guardedTables = {
  audit_log: 'organization_id',
  audit_stream_entries: 'organization_id',
  audit_streams: 'organization_id',
  bulk_operations: 'workspace_id',
  connection_tests: 'workspace_id',
  connection_tokens: 'workspace_id',
  connections: 'workspace_id',
  cron_jobs: 'workspace_id',
  data_keys: 'workspace_id',
  failure_states: 'workspace_id',
  federated_credentials: 'workspace_id',
  host_statistics: 'workspace_id',
  integrations: 'workspace_id',
  log_parts: 'workspace_id',
  qstash_signing_keys: 'workspace_id',
  queues: 'workspace_id',
  run_statistics: 'workspace_id',
  secrets: 'workspace_id',
  signing_secrets: 'workspace_id',
  subscription_secrets: 'workspace_id',
} as const satisfies Record<string, 'workspace_id' | 'organization_id'>

const kinds = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const

/**
 * Returns the service whose rights the current role comes closest to, and the rights on tables that the role lacks to run
 * it, such as `INSERT on tasks`.
 */
export async function findMissingRights(db: Pick<pg.Pool, 'query'>) {
  const { rows } = await db.query<{ table: string; rights: string[] }>(
    `
    SELECT c.relname AS table, ARRAY(
      SELECT kind FROM unnest($1::text[]) kind WHERE has_table_privilege(c.oid, kind)
    ) AS rights
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v') ORDER BY c.relname`,
    [kinds],
  )
  const [closest] = serviceNames
    .map(service => ({
      service,
      missing: rows.flatMap(({ table, rights }) =>
        (rightsOn(service, table)?.split(', ') ?? [])
          .filter(right => kinds.some(kind => kind === right) && !rights.includes(right))
          .map(right => `${right} on ${table}`),
      ),
    }))
    .sort((a, b) => a.missing.length - b.missing.length)
  if (!closest) throw new Error('There are no service roles.')
  return closest
}
