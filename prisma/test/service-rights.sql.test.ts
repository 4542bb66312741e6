import { createTestDatabase, serviceUrl } from '@belfry/test-support'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decidedTables, guardedTables, rightsOn, serviceNames } from '../src/migrate/service-rights.ts'
import { setUpRoles } from '../src/migrate/set-up-roles.ts'
import { openPool } from '../src/postgres/pool.ts'
import { divideMonth } from '../src/retention/divide-month.ts'
import { readMonths } from '../src/retention/run-partitions.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

async function query(url: string, text: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const kinds = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'] as const

it('has a decision for each table and view, and for nothing else', async () => {
  const rows = await query(
    database.url,
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') ORDER BY relname`,
  )
  expect([...decidedTables].sort()).toEqual(rows.map(({ name }) => name).sort())
})

it.each(serviceNames)('grants the %s exactly the rights of the list', async service => {
  const rows = await query(
    serviceUrl(database.url, service),
    `SELECT c.relname AS name, ARRAY(
       SELECT kind FROM unnest('{${kinds}}'::text[]) kind WHERE has_table_privilege(c.oid, kind)) AS rights
     FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v')`,
  )
  const isOwned = (name: string) => service === 'scheduler' && name === 'runs'
  const granted = rows.filter(({ name }) => !isOwned(name)).map(({ name, rights }) => [name, rights.join(', ')])
  const decided = granted.map(([name]) => [name, (rightsOn(service, name) ?? '').replace(/(^|, )\w+ \([\w, ]+\)/g, '')])
  expect(granted).toEqual(decided)
})

describe('forbids', () => {
  it.each([
    ['dispatcher', 'SELECT FROM users'],
    ['dispatcher', 'SELECT FROM sessions'],
    ['dispatcher', 'SELECT FROM api_keys'],
    ['dispatcher', 'SELECT FROM invitations'],
    ['dispatcher', 'SELECT FROM password_resets'],
    ['dispatcher', 'SELECT FROM email_confirmations'],
    ['dispatcher', 'SELECT FROM idempotency_keys'],
    ['dispatcher', 'SELECT sealed_secret FROM totp_factors'],
    ['dispatcher', 'SELECT FROM recovery_codes'],
    ['dispatcher', `UPDATE connections SET hosts = '{evil.example.com}'`],
    ['scheduler', 'SELECT FROM connections'],
    ['scheduler', 'SELECT FROM connection_tokens'],
    ['scheduler', 'SELECT FROM identity_keys'],
    ['api', 'SELECT sealed_value FROM identity_keys'],
    ['scheduler', 'SELECT FROM totp_factors'],
    ['dispatcher', 'SELECT FROM audit_log'],
    ['dispatcher', 'SELECT FROM operator_log'],
    ['dispatcher', `UPDATE secrets SET name = 'X'`],
    ['dispatcher', 'UPDATE workspaces SET suspended_at = NULL'],
    ['dispatcher', 'UPDATE organizations SET tier = NULL'],
    ['dispatcher', 'DELETE FROM tasks'],
    ['dispatcher', 'DELETE FROM runs'],
    ['dispatcher', 'SELECT expire_audit_log(gen_random_uuid(), 30, 1)'],
    ['scheduler', 'SELECT * FROM api_keys'],
    ['scheduler', 'SELECT FROM secrets'],
    ['scheduler', 'SELECT FROM signing_secrets'],
    ['scheduler', 'SELECT sealed_value FROM subscription_secrets'],
    ['dispatcher', 'DELETE FROM subscription_secrets'],
    ['scheduler', 'DELETE FROM operator_log'],
    ['dispatcher', 'SELECT FROM audit_stream_entries'],
    ['dispatcher', 'DELETE FROM audit_streams'],
    ['api', 'INSERT INTO audit_stream_entries VALUES (gen_random_uuid(), gen_random_uuid())'],
    ['scheduler', 'DELETE FROM audit_log'],
    ['scheduler', `UPDATE users SET password_hash = ''`],
    ['scheduler', 'ALTER TABLE audit_log DISABLE TRIGGER ALL'],
    ['api', `UPDATE audit_log SET address = ''`],
    ['api', 'DELETE FROM audit_log'],
    ['api', 'TRUNCATE audit_log'],
    ['api', 'DELETE FROM operator_log'],
    ['api', 'DELETE FROM tasks'],
    ['api', 'DELETE FROM runs'],
    ['api', 'UPDATE runs SET attempt = 1'],
    ['api', 'ALTER TABLE audit_log DISABLE TRIGGER ALL'],
    ['api', 'SELECT expire_audit_log(gen_random_uuid(), 30, 1)'],
    ['api', 'CREATE TABLE own (id int)'],
    ['api', 'CREATE ROLE other'],
    ['api', `UPDATE _prisma_migrations SET logs = ''`],
    ['api', 'SET ROLE belfry_scheduler'],
  ] as const)('the %s to run: %s', async (service, text) => {
    await expect(query(serviceUrl(database.url, service), text)).rejects.toThrow(/permission denied|must be owner/)
  })
})

// Each for a reason of docs/decisions/0022: an enumeration in an index, statements on many tenants, or reads by Prisma.
const unguarded = [
  ...['tasks', 'runs', 'task_labels', 'resting_hosts', 'failing_hosts', 'qstash_deduplications'],
  ...['usage', 'usage_changes', 'usage_days', 'usage_reports', 'storage', 'execution_blocks', 'run_changes'],
  ...['quota_crossings', 'idempotency_keys', 'billing_accounts', 'outbox'],
  ...['api_keys', 'subscriptions', 'invitations', 'memberships', 'workspace_members', 'workspaces'],
]

it('guards each table of a tenant by row-level security, or has a reason not to', async () => {
  const rows = await query(
    database.url,
    `SELECT DISTINCT c.relname AS name, c.relrowsecurity AS guarded FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v')
       AND a.attname IN ('workspace_id', 'organization_id') AND NOT a.attisdropped ORDER BY 1`,
  )
  const named = (isGuarded: boolean) => rows.filter(({ guarded }) => guarded === isGuarded).map(({ name }) => name)
  expect(named(true)).toEqual(Object.keys(guardedTables).sort())
  expect(named(false)).toEqual([...unguarded].sort())
})

it('lets the scheduler make and drop partitions of runs, and expire the audit log', async () => {
  const url = serviceUrl(database.url, 'scheduler')
  await query(url, 'CREATE TABLE run_partitions.runs_2040_01 (LIKE runs INCLUDING ALL)')
  await query(url, 'DROP TABLE run_partitions.runs_2040_01')
  const pool = openPool(url, { max: 2, onError: () => {} })
  const month = (await readMonths(pool, 1))[1]
  // Like the chore, it tries again when a statement takes 100 ms.
  await expect.poll(() => month && divideMonth(pool, month, 1)).toBe(true)
  await pool.end()
  expect(await query(url, 'SELECT expire_audit_log(gen_random_uuid(), 30, 1) AS deleted')).toEqual([{ deleted: 0 }])
})

it('changes nothing when it is repeated', async () => {
  const rights = 'SELECT relname, relowner, relacl::text FROM pg_class ORDER BY oid'
  const before = await query(database.url, rights)
  await setUpRoles(database.url, {})
  expect(await query(database.url, rights)).toEqual(before)
})
