import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort, type Postgres, startPostgres } from '@belfry/embedded'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { findInstalledPostgres, findRedisServer, startRedis } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Caller, callApi, inMs, signUp } from '../api-calls.ts'
import { type RunningService, startService } from '../processes.ts'
import { repositoryRoot } from '../repository-root.ts'

const installed = findInstalledPostgres()
const hasTools = installed !== null && findRedisServer() !== null && spawnSync('pgbackrest', ['version']).status === 0

// The steps of docs/backup-and-restore.md#point-in-time-recovery, with a repository on this disk.
describe.skipIf(!hasTools)('point-in-time recovery with pgBackRest', () => {
  let folder: string
  let postgres: Postgres
  let redis: Awaited<ReturnType<typeof startRedis>>
  let target: Receiver
  let env: Record<string, string>
  let caller: Caller
  let url: string
  const services: RunningService[] = []
  const dataDir = () => join(folder, 'postgres')

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belfry-pitr-'))
    await chmod(folder, 0o777)
    for (const name of ['sockets', 'repository', 'log', 'lock']) {
      await mkdir(join(folder, name))
      await chmod(join(folder, name), 0o777)
    }
    ;[target, redis] = await Promise.all([
      startReceiver(),
      startRedis({ dataDir: join(folder, 'redis'), persist: true }),
    ])
    postgres = await start()
    await writeConfiguration()
    await pgbackrest('stanza-create')
    await pgbackrest('check')
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    env = {
      DATABASE_URL: postgres.url(),
      REDIS_URL: redis.url,
      PORT: String(port),
      METRICS_PORT: '0',
      PUBLIC_URL: url,
      JWT_SECRET: randomBytes(32).toString('hex'),
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
      REGISTRATION: 'open',
      DEFAULT_TIER: 'unicorn',
    }
    await migrate('deploy')
    await startServices()
    caller = await signUp(url)
  }, 120_000)
  afterAll(async () => {
    await stopServices()
    await Promise.all([postgres?.stop(), redis?.stop(), target?.close()])
    await rm(folder, { recursive: true, force: true })
  })

  it('restores the moment before a mistake, with the Redis of after it', async () => {
    await create('/far', 3_600_000)
    await pgbackrest('--type=full', 'backup')
    await create('/soon', 8_000)
    await create('/kept', 3_600_000)
    await sleep(1_000)
    const [{ moment }] = (await query('SELECT clock_timestamp()::text AS moment')) as [{ moment: string }]
    await sleep(1_000)
    await arrive('/soon', 1)
    await query(`DELETE FROM tasks WHERE id IN (SELECT task_id FROM task_requests WHERE name = '/kept')`) // the mistake
    await create('/lost', 3_600_000)
    await query('SELECT pg_switch_wal()')
    await stopServices()
    await postgres.stop()

    await pgbackrest('--delta', '--type=time', `--target=${moment}`, '--target-action=promote', 'restore')
    postgres = await start(postgres.port)
    await waitFor(
      async () => (await query('SELECT pg_is_in_recovery() AS recovers'))[0],
      row => row?.recovers === false,
      30_000,
    )
    // Its time passes while everything is down.
    await sleep(Math.max(0, 9_000 - (Date.now() - new Date(moment).getTime())))
    expect(await migrate('deploy')).toBe('database is up to date')
    expect(await migrate('hold-overdue')).toBe('1 tasks held')
    await startServices()
    await create('/new', 2_000)
    await arrive('/new', 1)
    expect(target.requestsTo('/soon').length).toBe(1)
    const { body } = await callApi(url, caller, 'GET', '/api/v1/scheduler/tasks?state=pending')
    const names = body.data.map(({ name }: { name: string }) => name).sort()
    expect(names).toEqual(['/far', '/kept', '/soon'])
    expect(await migrate('release-held')).toBe('1 tasks released')
    await arrive('/soon', 2)
  }, 150_000)

  function start(port?: number): Promise<Postgres> {
    const settings = {
      unix_socket_directories: join(folder, 'sockets'),
      archive_mode: 'on',
      archive_command: `pgbackrest --config=${join(folder, 'pgbackrest.conf')} --stanza=belfry archive-push %p`,
      archive_timeout: '60',
    }
    return startPostgres({ dataDir: dataDir(), binaries: installed ?? undefined, port, settings })
  }

  async function writeConfiguration(): Promise<void> {
    const lines = [
      '[global]',
      `repo1-path=${join(folder, 'repository')}`,
      'repo1-retention-full=2',
      'start-fast=y',
      `log-path=${join(folder, 'log')}`,
      `lock-path=${join(folder, 'lock')}`,
      '[belfry]',
      `pg1-path=${dataDir()}`,
      `pg1-port=${postgres.port}`,
      `pg1-socket-path=${join(folder, 'sockets')}`,
      'pg1-user=postgres',
    ]
    await writeFile(join(folder, 'pgbackrest.conf'), `${lines.join('\n')}\n`, { mode: 0o644 })
  }

  async function pgbackrest(...args: string[]): Promise<void> {
    const given = [
      `--config=${join(folder, 'pgbackrest.conf')}`,
      '--stanza=belfry',
      '--log-level-console=warn',
      ...args,
    ]
    const PGPASSWORD = new URL(postgres.url()).password
    await promisify(execFile)('pgbackrest', given, { env: { ...process.env, PGPASSWORD } }).catch(error => {
      throw new Error(`${args.join(' ')}: ${error.stdout}${error.stderr}`)
    })
  }

  async function startServices(): Promise<void> {
    for (const name of ['api', 'scheduler', 'dispatcher'] as const) services.push(await startService(name, env))
  }

  function stopServices(): Promise<unknown> {
    return Promise.all(services.splice(0).map(service => service.stop('SIGKILL')))
  }

  async function create(path: string, aheadMs: number): Promise<void> {
    const task = { name: path, url: target.url(path), method: 'POST', execute_at: inMs(aheadMs) }
    expect((await callApi(url, caller, 'POST', '/api/v1/scheduler/tasks', task)).status).toBe(201)
  }

  async function arrive(path: string, count: number): Promise<void> {
    await target.waitFor(() => target.requestsTo(path).length >= count, 40_000)
  }

  async function query(text: string): Promise<Array<Record<string, unknown>>> {
    const client = new pg.Client({ connectionString: postgres.url() })
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }

  async function migrate(command: string): Promise<string> {
    const program = join(repositoryRoot(), 'prisma/dist/main.mjs')
    const given = { PATH: process.env.PATH, DATABASE_URL: postgres.url() }
    const { stdout } = await promisify(execFile)(process.execPath, [program, command], { env: given })
    return stdout.trim().split('\n').at(-1) ?? ''
  }
})
