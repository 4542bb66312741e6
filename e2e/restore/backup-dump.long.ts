import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, type Postgres, startPostgres } from '@belfry/embedded'
import { createTestDatabase, type Receiver, startReceiver } from '@belfry/test-support'
import { findInstalledPostgres } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Caller, callApi, inMs, signUp } from '../api-calls.ts'
import { type RunningService, startService } from '../processes.ts'
import { repositoryRoot } from '../repository-root.ts'
import { runMaintenance, succeed } from './run-maintenance.ts'

const installed = findInstalledPostgres()

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belfry-dumps-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('names the missing part', () => {
  it.each([
    ['no pg_dump', null, /^pg_dump is not on PATH\. Install the client programs of PostgreSQL 18 or newer/],
    [
      'an old pg_dump',
      'pg_dump (PostgreSQL) 14.2',
      /^pg_dump on PATH is of version 14, and the server of 18\. Install/,
    ],
  ])('%s', async (name, version, message) => {
    const database = await createTestDatabase()
    const bin = join(folder, name.replace(' ', '-'))
    await mkdir(bin)
    if (version !== null) {
      await writeFile(join(bin, 'pg_dump'), `#!/bin/sh\necho '${version}'\n`)
      await chmod(join(bin, 'pg_dump'), 0o755)
    }
    const env = { PATH: bin, DATABASE_URL: database.url, BACKUP_FOLDER: join(folder, 'none') }
    const { code, error } = await runMaintenance(env, 'backup')
    expect([code, error]).toEqual([1, expect.stringMatching(message)])
    await database.drop()
  })

  it('the folder of backups', async () => {
    const { code, error } = await runMaintenance({ DATABASE_URL: 'postgresql://127.0.0.1/x' }, 'backup', 'list')
    expect([code, error]).toEqual([1, 'BACKUP_FOLDER is not set: a folder, or s3://bucket/prefix.\n'])
  })

  it('a valid schedule', async () => {
    const env = { DATABASE_URL: 'postgresql://127.0.0.1/x', BACKUP_FOLDER: folder, BACKUP_SCHEDULE: '@daily' }
    const { code, error } = await runMaintenance(env, 'backup', 'schedule')
    expect([code, error]).toEqual([
      1,
      expect.stringMatching(/^BACKUP_SCHEDULE is not a cron expression of five fields/),
    ])
  })
})

// The programs of a server fit it by definition.
describe.skipIf(installed === null)('with an installed PostgreSQL', () => {
  const services: RunningService[] = []
  let postgres: Postgres
  let target: Receiver
  let env: Record<string, string>
  let caller: Caller
  let url: string

  const database = (name: string) => postgres.url(name)
  const start = async () => {
    for (const name of ['api', 'scheduler', 'dispatcher'] as const) services.push(await startService(name, env))
  }
  const stop = () => Promise.all(services.splice(0).map(service => service.stop('SIGKILL')))
  const calls = (path: string) => target.requestsTo(path).length

  beforeAll(async () => {
    target = await startReceiver()
    postgres = await startPostgres({ dataDir: join(folder, 'postgres'), binaries: installed ?? undefined })
    await query('postgres', 'CREATE DATABASE belfry')
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    env = {
      PATH: `${dirname(installed?.postgres ?? '')}:${process.env.PATH}`,
      DATABASE_URL: database('belfry'),
      BACKUP_FOLDER: join(folder, 'backups'),
      PORT: String(port),
      METRICS_PORT: '0',
      PUBLIC_URL: url,
      JWT_SECRET: randomBytes(32).toString('hex'),
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
      REGISTRATION: 'open',
      DEFAULT_TIER: 'unicorn',
    }
    await migrate('deploy', database('belfry'))
    await start()
    caller = await signUp(url)
  }, 120_000)
  afterAll(async () => {
    await stop()
    await postgres?.stop()
    await target?.close()
  })

  it('backs up, drills and restores into an empty database, and holds what was delivered since', async () => {
    await callApi(url, caller, 'PUT', `/api/v1/workspaces/${caller.workspaceId}/secrets/TOKEN`, { value: 'stored' })
    await create('/later', 12_000)
    await create('/far', 3_600_000)
    const made = JSON.parse(await succeed(env, 'backup', '--json'))
    expect(made).toMatchObject({ kind: 'dump', rows: { tasks: 2, secrets: 1, organizations: 1 } })
    expect(calls('/later')).toBe(0) // or the backup came too late for this test
    await waitFor(
      async () => calls('/later'),
      count => count === 1,
      40_000,
    )
    const drilled = JSON.parse(await succeed(env, 'restore', 'latest', '--drill', '--json'))
    expect(drilled).toMatchObject({ ok: true, problems: [], rows: made.rows })
    expect(await query('postgres', `SELECT FROM pg_database WHERE datname LIKE 'belfry_drill%'`)).toEqual([])
    const refused = await runMaintenance(env, 'restore', 'latest')
    expect([refused.code, refused.error]).toEqual([
      1,
      expect.stringMatching(/^The database of DATABASE_URL has tables/),
    ])

    await stop()
    await query('postgres', 'CREATE DATABASE restored')
    env.DATABASE_URL = database('restored')
    expect(await succeed(env, 'restore', 'latest')).toMatch(/^1 tasks held$/m)
    await start()
    await create('/new', 1_500)
    await waitFor(
      async () => calls('/new'),
      count => count === 1,
      40_000,
    )
    expect(calls('/later')).toBe(1)
    expect(await migrate('release-held', database('restored'))).toBe('1 tasks released')
    await waitFor(
      async () => calls('/later'),
      count => count === 2,
      40_000,
    )
    const { body } = await callApi(url, caller, 'GET', '/api/v1/scheduler/tasks?state=pending')
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['/far'])
  }, 150_000)

  it('reports a dump whose rows differ from its manifest', async () => {
    const made = JSON.parse(await succeed(env, 'backup', '--json'))
    const file = join(folder, 'backups', made.name, 'manifest.json')
    const { name: _, place: __, deleted: ___, ...manifest } = made
    await writeFile(file, JSON.stringify({ ...manifest, rows: { ...manifest.rows, tasks: manifest.rows.tasks + 1 } }))
    const { code, out } = await runMaintenance(env, 'backup', 'verify')
    expect([code, out]).toEqual([1, expect.stringMatching(/tasks has \d+ rows instead of \d+\./)])
  }, 60_000)

  it('keeps only the newest backups when asked', async () => {
    await new Promise(resolve => setTimeout(resolve, 1_100)) // names have seconds
    expect(await succeed(env, 'backup', '--keep', '1')).toMatch(/^deleted belfry-/m)
    expect((await succeed(env, 'backup', 'list')).trim().split('\n')).toHaveLength(1)
  }, 60_000)

  async function create(path: string, aheadMs: number): Promise<void> {
    const task = { name: path, url: target.url(path), method: 'POST', execute_at: inMs(aheadMs) }
    expect((await callApi(url, caller, 'POST', '/api/v1/scheduler/tasks', task)).status).toBe(201)
  }

  async function query(name: string, text: string) {
    const client = new pg.Client({ connectionString: database(name) })
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }

  async function migrate(command: string, databaseUrl: string): Promise<string> {
    const program = join(repositoryRoot(), 'prisma/dist/main.mjs')
    const given = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
    const { stdout } = await promisify(execFile)(process.execPath, [program, command], { env: given })
    return stdout.trim().split('\n').at(-1) ?? ''
  }
})
