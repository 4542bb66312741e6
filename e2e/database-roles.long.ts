import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, type Postgres, startPostgres } from '@belfry/embedded'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Caller, callApi, inMs, signUp } from './api-calls.ts'
import { hasTool } from './deployment/tools.ts'
import { type RunningService, type ServiceName, startService } from './processes.ts'
import { repositoryRoot } from './repository-root.ts'

const names = ['api', 'scheduler', 'dispatcher'] as const
const run = promisify(execFile)

async function query(databaseUrl: string, text: string) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

// A server of its own, which the statements of docker-compose.yml and the chart set up.
describe.runIf(hasTool('psql', ['--version']))('an installation whose owner is no superuser', () => {
  const services: RunningService[] = []
  let folder: string
  let postgres: Postgres
  let ownerUrl: string
  let env: Record<string, string>
  let url: string
  let caller: Caller
  let target: Receiver
  let start: (name: ServiceName) => Promise<unknown>

  const urlFor = (name: string) => env[`${name.toUpperCase()}_DATABASE_URL`] ?? ''
  const migrate = (...args: string[]) =>
    run(process.execPath, [join(repositoryRoot(), 'prisma/dist/main.mjs'), ...args], {
      env: { PATH: process.env.PATH, DATABASE_URL: ownerUrl, ...env },
    })
  const newUrl = (user: string) =>
    Object.assign(new URL(postgres.url('belfry')), { username: user, password: randomBytes(16).toString('hex') }).href

  beforeAll(async () => {
    target = await startReceiver()
    folder = await mkdtemp(join(tmpdir(), 'belfry-roles-'))
    postgres = await startPostgres({ dataDir: join(folder, 'postgres'), settings: { fsync: 'off' } })
    await query(postgres.url(), 'CREATE DATABASE belfry')
    ownerUrl = newUrl('belfry')
    const sql = (await readFile(join(repositoryRoot(), 'k8s/chart/files/create-owner.sql'), 'utf8'))
      // The test still needs the password.
      .replace('ALTER ROLE CURRENT_USER PASSWORD NULL;', '')
    const psql = run('psql', ['--set', 'ON_ERROR_STOP=1', '--no-psqlrc', postgres.url('belfry')], {
      env: { PATH: process.env.PATH, OWNER_PASSWORD: new URL(ownerUrl).password },
    })
    psql.child.stdin?.end(sql)
    await psql
    env = Object.fromEntries(names.map(name => [`${name.toUpperCase()}_DATABASE_URL`, newUrl(`belfry_${name}`)]))
    await migrate('deploy')
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const common = {
      ...{ PORT: String(port), METRICS_PORT: '0', PUBLIC_URL: url, JWT_SECRET: randomBytes(32).toString('hex') },
      ...{ ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`, ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
      ...{ REGISTRATION: 'open', DEFAULT_TIER: 'free', OPERATOR_PASSWORD: randomBytes(16).toString('hex') },
    }
    start = async name => services.push(await startService(name, { ...common, DATABASE_URL: urlFor(name) }))
    await Promise.all(names.map(start))
    caller = await signUp(url)
  }, 180_000)
  afterAll(async () => {
    await Promise.all(services.map(service => service.stop('SIGTERM')))
    await target?.close()
    await postgres?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const call = (method: string, path: string, body?: unknown) => callApi(url, caller, method, path, body)
  const scheduler = '/api/v1/scheduler'
  const refusals = () =>
    services.flatMap(({ output }) => output.split('\n').filter(line => /permission denied|must be owner/.test(line)))

  it('delivers tasks, events, callbacks, queues and cron jobs, with secrets, retries and an idempotency key', async () => {
    await call('PUT', `/api/v1/workspaces/${caller.workspaceId}/secrets/TOKEN`, { value: 'a value' })
    target.answer('/fails', [{ status: 500 }, { status: 200 }])
    const retry = { max_retries: 1, backoff: 'fixed', base_delay_ms: 1000 }
    const request = { headers: { X: '{{ secrets.TOKEN }}' }, labels: ['a:1'], queue: 'one' }
    const more = { ...request, on_success: { url: target.url('/callback') } }
    const task = { name: 'a', url: target.url('/fails'), method: 'POST', execute_at: inMs(1500), retry, ...more }
    expect((await call('PUT', `${scheduler}/queues/one`, { max_concurrent: 1 })).status).toBeLessThan(300)
    expect((await call('POST', `${scheduler}/tasks`, task)).status).toBe(201)
    const event = { topic: 'a', payload: {}, target_url: target.url('/event') }
    expect((await call('POST', '/api/events', event)).status).toBe(202)
    const job = { name: 'j', url: target.url('/job'), method: 'POST', cron: '* * * * *' }
    const { body: cronJob } = await call('POST', `${scheduler}/cronjobs`, job)
    expect((await call('POST', `${scheduler}/cronjobs/${cronJob.id}/trigger`)).status).toBe(201)
    await target.waitFor(() => target.requestsTo('/fails').length === 2 && target.requestsTo('/job').length > 0, 20_000)
    const isCalled = (path: string) => target.requestsTo(path).length === 1
    await target.waitFor(() => isCalled('/event') && isCalled('/callback'), 20_000)
    expect((await call('POST', `${scheduler}/cronjobs/${cronJob.id}/pause`)).status).toBe(200)
    const { body } = await waitFor(
      () => call('GET', `${scheduler}/tasks?state=success`),
      ({ body }) => body.data.length >= 4,
    )
    expect((await call('POST', `${scheduler}/tasks/${body.data[0].id}/replay`)).status).toBe(201)
  }, 60_000)

  it('purges a deleted workspace, and logs no refusal of a statement in any service', async () => {
    const { apiKey: _, ...session } = caller
    expect((await callApi(url, session, 'DELETE', `/api/v1/workspaces/${caller.workspaceId}`)).status).toBe(204)
    // The scheduler waits a minute for processes that still know the workspace.
    await query(ownerUrl, `UPDATE workspaces SET deleted_at = deleted_at - interval '2 minutes'`)
    // Its first round is at its start, and that of the other scheduler within a minute.
    await start('scheduler')
    const isPurged = async () => (await query(ownerUrl, 'SELECT FROM workspaces')).length === 0
    await expect.poll(async () => refusals().length > 0 || (await isPurged()), { timeout: 150_000 }).toBe(true)
    expect(refusals()).toEqual([])
  }, 180_000)

  it('has no superuser but that of the server', async () => {
    const rows = await query(ownerUrl, 'SELECT rolname FROM pg_roles WHERE rolsuper')
    expect(rows).toEqual([{ rolname: new URL(postgres.url()).username }])
  })

  it('migrates further as the owner, also the table of runs, whose owner is the scheduler', async () => {
    await migrate('deploy')
    await query(ownerUrl, 'ALTER TABLE runs ADD COLUMN later text')
    expect(await query(urlFor('dispatcher'), 'SELECT later FROM runs LIMIT 0')).toEqual([])
  })

  it('replaces the password of a role when its URL has another one', async () => {
    const before = urlFor('dispatcher')
    env.DISPATCHER_DATABASE_URL = newUrl('belfry_dispatcher')
    await migrate('deploy')
    await expect(query(before, 'SELECT 1')).rejects.toThrow(/password authentication failed/)
    expect(await query(urlFor('dispatcher'), 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('refuses a URL with another user than that of the role, and uses no role for that of the owner', async () => {
    const given = env.API_DATABASE_URL ?? ''
    env.API_DATABASE_URL = newUrl('other')
    await expect(migrate('deploy')).rejects.toThrow(/API_DATABASE_URL must be .* the user belfry_api/)
    env.API_DATABASE_URL = ownerUrl
    await migrate('deploy')
    env.API_DATABASE_URL = given
    expect(await query(given, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('lets a pod wait for its role, which the migration creates', async () => {
    await query(postgres.url(), 'CREATE DATABASE later OWNER belfry')
    const at = (address: string) => Object.assign(new URL(address), { pathname: 'later' }).href
    env.SCHEDULER_DATABASE_URL = newUrl('belfry_scheduler')
    const roleUrl = at(urlFor('scheduler'))
    const waiting = run(process.execPath, [join(repositoryRoot(), 'prisma/dist/main.mjs'), 'wait'], {
      env: { PATH: process.env.PATH, DATABASE_URL: roleUrl },
    })
    const isWaiting = new Promise(resolve => waiting.child.stdout?.once('data', resolve))
    expect(String(await isWaiting)).toMatch(/^waiting for \d+ migrations/)
    await run(process.execPath, [join(repositoryRoot(), 'prisma/dist/main.mjs'), 'deploy'], {
      env: { PATH: process.env.PATH, DATABASE_URL: at(ownerUrl), SCHEDULER_DATABASE_URL: urlFor('scheduler') },
    })
    expect((await waiting).stdout).toContain('every migration of this version is applied')
  }, 60_000)
})
