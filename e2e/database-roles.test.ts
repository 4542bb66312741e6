import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@belfry/embedded'
import { createTestDatabase, type Receiver, startReceiver } from '@belfry/testing'
import { waitFor } from '@belfry/testing/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Caller, callApi, inMs, signUp } from './api-calls.ts'
import { type RunningService, type ServiceName, startService } from './processes.ts'
import { repositoryRoot } from './repository-root.ts'

const password = randomBytes(16).toString('hex')
const names = ['api', 'scheduler', 'dispatcher'] as const
const services: RunningService[] = []
let database: Awaited<ReturnType<typeof createTestDatabase>>
let url: string
let caller: Caller
let target: Receiver

const urlFor = (role: string) => Object.assign(new URL(database.url), { username: role, password }).href

async function query(databaseUrl: string, text: string) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

// Each service has its own role, none of which is a superuser or the owner.
beforeAll(async () => {
  target = await startReceiver()
  database = await createTestDatabase()
  const env = { PATH: process.env.PATH, DATABASE_URL: database.url }
  for (let times = 0; times < 2; times++)
    await promisify(execFile)(process.execPath, [join(repositoryRoot(), 'prisma/dist/main.mjs'), 'grant-roles'], {
      env,
    })
  for (const name of names) await query(database.url, `ALTER ROLE belfry_${name} LOGIN PASSWORD '${password}'`)
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const common = {
    ...{ PORT: String(port), METRICS_PORT: '0', PUBLIC_URL: url, JWT_SECRET: randomBytes(32).toString('hex') },
    ...{ ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`, ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
    ...{ REGISTRATION: 'open', TIER_CHANGES: 'owner', DEFAULT_TIER: 'free', OPERATOR_PASSWORD: password },
  }
  const start = async (name: ServiceName) =>
    services.push(await startService(name, { ...common, DATABASE_URL: urlFor(`belfry_${name}`) }))
  await Promise.all(names.map(start))
  caller = await signUp(url)
}, 60_000)
afterAll(async () => {
  await Promise.all(services.map(service => service.stop('SIGTERM')))
  for (const name of names) await query(database.url, `ALTER ROLE belfry_${name} NOLOGIN`)
  await database?.drop()
  await target?.close()
})

const call = (method: string, path: string, body?: unknown) => callApi(url, caller, method, path, body)
const scheduler = '/api/v1/scheduler'

it('delivers tasks, events, callbacks and cron jobs, with secrets, retries and an idempotency key', async () => {
  await call('PUT', `/api/v1/workspaces/${caller.workspaceId}/secrets/TOKEN`, { value: 'a value' })
  target.answer('/fails', [{ status: 500 }, { status: 200 }])
  const retry = { max_retries: 1, backoff: 'fixed', base_delay_ms: 1000 }
  const headers = { X: '{{ secrets.TOKEN }}' }
  const task = { name: 'a', url: target.url('/fails'), method: 'POST', execute_at: inMs(1500), retry, headers }
  expect((await call('POST', `${scheduler}/tasks`, task)).status).toBe(201)
  const event = { topic: 'a', payload: {}, target_url: target.url('/event') }
  expect((await call('POST', '/api/events', event)).status).toBe(202)
  const job = { name: 'j', url: target.url('/job'), method: 'POST', cron: '* * * * *' }
  const { body: cronJob } = await call('POST', `${scheduler}/cronjobs`, job)
  expect((await call('POST', `${scheduler}/cronjobs/${cronJob.id}/trigger`)).status).toBe(201)
  await target.waitFor(() => target.requestsTo('/fails').length === 2 && target.requestsTo('/job').length > 0, 20_000)
  await target.waitFor(() => target.requestsTo('/event').length === 1, 20_000)
  expect((await call('POST', `${scheduler}/cronjobs/${cronJob.id}/pause`)).status).toBe(200)
  const { body } = await waitFor(
    () => call('GET', `${scheduler}/tasks?state=success`),
    ({ body }) => body.data.length >= 3,
  )
  expect((await call('POST', `${scheduler}/tasks/${body.data[0].id}/replay`)).status).toBe(201)
}, 60_000)

const refusals = () =>
  services.flatMap(({ output }) => output.split('\n').filter(line => /permission denied|must be owner/.test(line)))

it('deletes a workspace, and logs no refusal of a statement in any service', async () => {
  const { apiKey: _, ...session } = caller
  expect((await callApi(url, session, 'DELETE', `/api/v1/workspaces/${caller.workspaceId}`)).status).toBe(204)
  // The scheduler waits a minute for processes that still know the workspace.
  await query(database.url, `UPDATE workspaces SET deleted_at = deleted_at - interval '2 minutes'`)
  const isWoundDown = async () =>
    (await query(database.url, 'SELECT FROM workspaces WHERE wound_down_at IS NOT NULL')).length === 1
  await expect.poll(async () => refusals().length > 0 || (await isWoundDown()), { timeout: 40_000 }).toBe(true)
  await new Promise(resolve => setTimeout(resolve, 3_000)) // further chores
  expect(refusals()).toEqual([])
}, 60_000)

it.each([
  ['dispatcher', 'SELECT FROM users'],
  ['dispatcher', 'SELECT FROM sessions'],
  ['dispatcher', 'SELECT FROM api_keys'],
  ['dispatcher', 'SELECT FROM audit_log'],
  ['dispatcher', `UPDATE secrets SET name = 'X'`],
  ['dispatcher', 'SELECT expire_audit_log(gen_random_uuid(), 30, 1)'],
  ['api', `UPDATE audit_log SET address = ''`],
  ['api', 'DELETE FROM audit_log'],
  ['api', 'DELETE FROM operator_log'],
  ['api', 'ALTER TABLE audit_log DISABLE TRIGGER ALL'],
  ['api', 'CREATE TABLE own (id int)'],
  ['scheduler', 'DELETE FROM audit_log'],
  ['scheduler', 'ALTER TABLE audit_log DISABLE TRIGGER ALL'],
  ['scheduler', 'SELECT FROM operator_log'],
] as const)('the role of the %s may not: %s', async (name, text) => {
  await expect(query(urlFor(`belfry_${name}`), text)).rejects.toThrow(/permission denied|must be owner/)
})

it('makes and drops partitions of runs as the scheduler', async () => {
  const asScheduler = urlFor('belfry_scheduler')
  await query(asScheduler, 'CREATE TABLE run_partitions.runs_2040_01 (LIKE runs INCLUDING ALL)')
  await query(asScheduler, 'DROP TABLE run_partitions.runs_2040_01')
  expect(await query(asScheduler, 'SELECT expire_audit_log(gen_random_uuid(), 30, 1) AS deleted')).toEqual([
    { deleted: 0 },
  ])
})
