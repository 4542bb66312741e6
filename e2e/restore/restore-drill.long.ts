import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, type Postgres, startPostgres } from '@belfry/embedded'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Caller, callApi, inMs, signUp } from '../api-calls.ts'
import { type RunningService, startService } from '../processes.ts'
import { repositoryRoot } from '../repository-root.ts'
import { backUp, restore } from './online-backup.ts'

let folder: string
let postgres: Postgres
let target: Receiver
const running: RunningService[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belfry-restore-'))
  ;[postgres, target] = await Promise.all([startPostgres({ dataDir: join(folder, 'data') }), startReceiver()])
}, 60_000)
afterAll(async () => {
  await Promise.all(running.map(service => service.stop('SIGKILL')))
  await postgres?.stop()
  await target?.close()
  await rm(folder, { recursive: true, force: true })
})

it('does not repeat deliveries from after the backup, until they are released', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = settings(postgres.url(), port)
  const start = async () => {
    const names = ['api', 'scheduler', 'dispatcher'] as const
    running.push(...(await Promise.all(names.map(name => startService(name, env)))))
  }
  const migrate = (...args: string[]) => runMigrate(args, postgres.url())
  await migrate('deploy')
  await start()
  const caller = await signUp(url)
  const calls = (name: string) => target.requests.filter(({ path }) => path.startsWith(`/${name}/`))
  const arrive = (name: string, count: number) =>
    waitFor(
      async () => calls(name).length,
      seen => seen >= count,
      40_000,
    )

  await create(url, caller, 'before', 5, 3_000)
  await arrive('before', 5)
  await create(url, caller, 'between', 10, 12_000)
  await create(url, caller, 'far', 3, 3_600_000)
  const cron = { name: 'yearly', url: target.url('/yearly/1'), method: 'POST', cron: '0 0 1 1 *' }
  expect((await callApi(url, caller, 'POST', '/api/v1/scheduler/cronjobs', cron)).status).toBe(201)
  await backUp(postgres, join(folder, 'data'), join(folder, 'backup'))
  expect(calls('between')).toEqual([]) // or the backup came too late for this test
  await arrive('between', 10)
  await create(url, caller, 'after', 3, 3_000)
  await arrive('after', 3)

  await Promise.all(running.splice(0).map(service => service.stop('SIGKILL')))
  postgres.kill()
  await postgres.exited
  postgres = await restore(join(folder, 'backup'), join(folder, 'data'), postgres.port)
  // As if an occurrence of the cron job had become due since the backup.
  await query(`UPDATE cron_jobs SET next_run_at = date_trunc('year', now())`)
  expect(await migrate('hold-overdue')).toBe('11 tasks held')
  await start()
  await create(url, caller, 'new', 3, 6_000)
  await arrive('new', 3)
  expect({ before: calls('before').length, between: calls('between').length, after: calls('after').length }).toEqual({
    before: 5,
    between: 10,
    after: 3,
  })
  expect([...calls('far'), ...calls('yearly')]).toEqual([])
  const waiting = await callApi(url, caller, 'GET', '/api/v1/scheduler/tasks?state=pending&limit=100')
  expect(waiting.body.data).toHaveLength(14) // held tasks are listed: 10, the occurrence, and the three far ones

  expect(await migrate('release-held', '--rate', '6')).toBe('11 tasks released')
  await arrive('between', 20)
  await arrive('yearly', 1)
  const ids = calls('between').map(({ rawHeaders }) => rawHeaders[rawHeaders.indexOf('webhook-id') + 1])
  expect(new Set(ids).size).toBe(10) // the receiver can recognize the repeated ones
}, 180_000)

async function create(url: string, caller: Caller, name: string, count: number, aheadMs: number): Promise<void> {
  const tasks = Array.from({ length: count }, (_, i) => {
    return { name, url: target.url(`/${name}/${i}`), method: 'POST', execute_at: inMs(aheadMs) }
  })
  const { body } = await callApi(url, caller, 'POST', '/api/v1/scheduler/tasks/batch', { tasks })
  expect(body.data.filter((row: { error?: unknown }) => row.error)).toEqual([])
}

async function query(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url() })
  await client.connect()
  await client.query(statement)
  await client.end()
}

async function runMigrate(args: string[], databaseUrl: string): Promise<string> {
  const program = join(repositoryRoot(), 'prisma/dist/main.mjs')
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env })
  return stdout.trim().split('\n').at(-1) ?? ''
}

function settings(databaseUrl: string, port: number): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    METRICS_PORT: '0',
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    REGISTRATION: 'open', // further accounts register without an invitation
    DEFAULT_TIER: 'unicorn',
  }
}
