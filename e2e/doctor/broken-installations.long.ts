import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, type Postgres, startPostgres } from '@belfry/embedded'
import { createEmptyDatabase, createTestDatabase, startMailServer, startReceiver } from '@belfry/test-support'
import { startRedis } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startBelfry } from '../belfry.ts'
import { startService } from '../processes.ts'
import { repositoryRoot } from '../repository-root.ts'
import { complaints, type Diagnosis, runDoctor } from './run-doctor.ts'

type Broken = {
  /** What was broken, as the title of the test. */
  name: string
  /** Breaks a healthy installation, and returns what the doctor gets. */
  breakIt: () => Promise<{ env?: Record<string, string>; args?: string[] }>
  /** The finding that names the cause. */
  finding: RegExp
  advice: RegExp
}

const secrets = {
  JWT_SECRET: randomBytes(32).toString('hex'),
  ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  SMTP_URL: 'file:///tmp',
  ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
}
const releases: Array<() => Promise<unknown>> = []
const later = (release: () => Promise<unknown>) => void releases.push(release)
let folder: string
let durable: Postgres

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belfry-doctor-'))
  durable = await startPostgres({ dataDir: join(folder, 'durable') })
  await migrate(durable.url())
}, 120_000)
afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release()
})
afterAll(async () => {
  await durable?.stop()
  await rm(folder, { recursive: true, force: true })
})

it('finds nothing wrong with a healthy database', async () => {
  const diagnosis = await runDoctor({ ...secrets, DATABASE_URL: durable.url() }, '--stopped')
  expect(complaints(diagnosis)).toEqual([])
  expect(diagnosis.code).toBe(0)
})

it('reads secrets from files, as the migrations and the services do', async () => {
  const made = await createEmptyDatabase()
  later(() => made.drop())
  const files = await mkdtemp(join(folder, 'secrets-'))
  const env: Record<string, string> = { SMTP_URL: secrets.SMTP_URL, METRICS_PORT: '0', PORT: String(await freePort()) }
  const { JWT_SECRET, ENCRYPTION_KEYS } = secrets
  for (const [name, value] of Object.entries({ DATABASE_URL: made.url, JWT_SECRET, ENCRYPTION_KEYS })) {
    env[`${name}_FILE`] = join(files, name)
    await writeFile(join(files, name), `${value}\n`)
  }
  const program = join(repositoryRoot(), 'prisma/dist/main.mjs')
  await promisify(execFile)(process.execPath, [program, 'deploy'], { env: { PATH: process.env.PATH, ...env } })
  for (const name of ['api', 'scheduler', 'dispatcher'] as const) {
    const service = await startService(name, env)
    later(() => service.stop())
  }
  const { findings } = await runDoctor(env)
  const oks = findings.filter(({ level }) => level === 'ok').map(({ message }) => message)
  expect(oks).toContain('dispatchers alive: 1, schedulers alive: 1')
  expect(oks).toContainEqual(expect.stringMatching(/settings of scheduler, dispatcher, api$/))
}, 60_000)

const installations: Broken[] = [
  {
    name: 'PostgreSQL has ended',
    breakIt: async () => ({ env: { DATABASE_URL: `postgresql://postgres:x@127.0.0.1:${await freePort()}/postgres` } }),
    finding:
      /^problem database: PostgreSQL at 127\.0\.0\.1:\d+\/postgres does not accept the connection: .*ECONNREFUSED/,
    advice: /No server listens there/,
  },
  {
    name: 'none of two hosts is a primary',
    async breakIt() {
      const url = await database()
      await query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`)
      return { env: { DATABASE_URL: url.replace(/@([^/]+)/, `@127.0.0.1:${await freePort()},$1`) } }
    },
    finding:
      /^problem database: PostgreSQL does not accept the connection: No host of the database accepts writes: .*it is read-only/,
    advice: /Promote a standby/,
  },
  {
    name: 'the password of PostgreSQL is wrong',
    breakIt: async () => ({ env: { DATABASE_URL: Object.assign(new URL(durable.url()), { password: 'wrong' }).href } }),
    finding: /^problem database: .*password authentication failed/,
    advice: /Correct the user and the password/,
  },
  {
    name: 'the migrations were never applied',
    breakIt: async () => ({ env: { DATABASE_URL: await emptyDatabase() } }),
    finding: /^problem migrations: \d\d migrations of this version are not applied, first 20261127000000_baseline/,
    advice: /deploy/,
  },
  {
    name: 'the database was migrated by a later version',
    async breakIt() {
      const url = await database()
      await query(
        url,
        `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
         VALUES ('x', 'x', '20991231000000_future', now(), now(), 1)`,
      )
      return { env: { DATABASE_URL: url } }
    },
    finding: /^warning migrations: The database has 1 migrations of a later version, last 20991231000000_future/,
    advice: /Run the later version/,
  },
  {
    name: 'PostgreSQL does not wait for its disk', // as the server of the tests does
    breakIt: async () => ({ env: { DATABASE_URL: await database() } }),
    finding: /^problem database: fsync is off/,
    advice: /reload PostgreSQL/,
  },
  {
    name: 'PostgreSQL allows too few connections',
    async breakIt() {
      const postgres = await startPostgres({ dataDir: join(folder, 'small'), settings: { max_connections: '20' } })
      later(() => postgres.stop())
      await migrate(postgres.url())
      return { env: { DATABASE_URL: postgres.url() } }
    },
    finding: /^problem database: max_connections allows 17 connections; one of each service may open 40/,
    advice: /Set max_connections to 60/,
  },
  {
    name: 'PostgreSQL is read-only',
    async breakIt() {
      const url = await database()
      await query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`)
      return { env: { DATABASE_URL: url } }
    },
    finding: /^problem database: PostgreSQL accepts no writes: .*read-only transaction/,
    advice: /Point DATABASE_URL to the primary/,
  },
  {
    name: 'the role lacks rights on a table',
    async breakIt() {
      const url = await database()
      const role = `weak_${randomBytes(4).toString('hex')}`
      await query(url, `CREATE ROLE ${role} LOGIN PASSWORD 'p'`)
      later(async () => query(url, `DROP OWNED BY ${role}`).then(() => query(url, `DROP ROLE ${role}`)))
      await query(url, `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`)
      await query(url, `REVOKE INSERT, UPDATE ON tasks FROM ${role}`)
      return { env: { DATABASE_URL: Object.assign(new URL(url), { username: role, password: 'p' }).href } }
    },
    finding: /^problem database: The role weak_\w+ lacks rights of the \w+: INSERT on tasks, UPDATE on tasks\./,
    advice: /grant-roles/,
  },
  {
    name: 'Redis evicts jobs',
    breakIt: async () => ({ env: { REDIS_URL: await redis({ 'maxmemory-policy': 'allkeys-lru' }) } }),
    finding: /^warning redis: maxmemory-policy is allkeys-lru: jobs may vanish/,
    advice: /CONFIG SET/,
  },
  {
    name: 'Redis is full',
    breakIt: async () => ({ env: { REDIS_URL: await redis({ maxmemory: '1' }) } }),
    finding: /^problem redis: Redis refuses writes: OOM/,
    advice: /Raise maxmemory/,
  },
  {
    name: 'the password of Redis is missing',
    breakIt: async () => ({ env: { REDIS_URL: await redis({ requirepass: 'hunter2' }) } }),
    finding: /^problem redis: Redis does not answer: NOAUTH/,
    advice: /password in REDIS_URL/,
  },
  {
    name: 'Redis has ended',
    breakIt: async () => ({ env: { REDIS_URL: `redis://127.0.0.1:${await freePort()}` } }),
    finding: /^problem redis: Redis does not answer: .*ECONNREFUSED/,
    advice: /Start Redis/,
  },
  {
    name: 'this machine has another time than PostgreSQL',
    async breakIt() {
      const shift = 'const now = Date.now; Date.now = () => now() + 90_000'
      return { env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shift)}` } }
    },
    finding: /^problem clocks: The clock of PostgreSQL is (89|90)\.\d s behind this machine's/,
    advice: /NTP/,
  },
  {
    name: 'the partitions of the log ran out',
    async breakIt() {
      const url = await database()
      await query(
        url,
        `DO $$ DECLARE name text; BEGIN
           FOR name IN SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
             WHERE inhparent = 'runs'::regclass AND relname ~ '^runs_[0-9]'
           LOOP EXECUTE 'DROP TABLE ' || name; END LOOP;
         END $$`,
      )
      return { env: { DATABASE_URL: url } }
    },
    finding: /^problem partitions: The log of runs has no partition for this month/,
    advice: /prepare-run-partitions/,
  },
  {
    name: 'a secret is a placeholder',
    breakIt: async () => ({ env: { JWT_SECRET: 'change-me-change-me-change-me-change-me' } }),
    finding: /^problem settings: JWT_SECRET: must be random/,
    advice: /restart the services/,
  },
  {
    name: 'the mail server refuses the sign-in',
    async breakIt() {
      const server = await startMailServer({ account: { user: 'belfry', password: 'right' } })
      later(() => server.close())
      const url = Object.assign(new URL(server.url), { username: 'belfry', password: 'wrong-pass' })
      return { env: { SMTP_URL: url.href, MAIL_FROM: 'belfry@example.com' } }
    },
    finding: /^problem mail: The mail server 127\.0\.0\.1:\d+ does not accept mails/,
    advice: /Correct the user and the password in SMTP_URL/,
  },
  {
    name: 'scheduled backups have stopped',
    async breakIt() {
      const backups = await mkdtemp(join(folder, 'backups-'))
      const at = new Date(Date.now() - 3 * 24 * 3_600_000).toISOString()
      const name = `belfry-${at.replace(/\.\d+/, '').replace(/[-:]/g, '')}`
      await mkdir(join(backups, name))
      const manifest = { format: 1, kind: 'dump', createdAt: at, version: '0.1.0', migration: 'x', postgres: '18.4' }
      const rest = { rows: {}, hasSecrets: false, files: [] }
      await writeFile(join(backups, name, 'manifest.json'), JSON.stringify({ ...manifest, ...rest }))
      return { env: { BACKUP_SCHEDULE: '0 3 * * *', BACKUP_FOLDER: backups } }
    },
    finding: /^problem backups: The newest backup is of \d{4}-.*, although BACKUP_SCHEDULE is 0 3 \* \* \*/,
    advice: /belfry backup/,
  },
  {
    name: 'a process has ended',
    breakIt: async () => ({ args: ['--process', `http://127.0.0.1:${await freePort()}`] }),
    finding: /^problem processes: The process at http:\/\/127\.0\.0\.1:\d+ does not answer/,
    advice: /Look into its log/,
  },
  {
    name: 'a target is at a private address',
    breakIt: async () => ({ args: ['--target', 'http://10.1.2.3/hook?token=canary'] }),
    finding: /^problem target: The target http:\/\/10\.1\.2\.3 fails with blocked_address/,
    advice: /ALLOWED_PRIVATE_TARGETS/,
  },
  {
    name: 'a target does not listen',
    breakIt: async () => ({ args: ['--target', `http://127.0.0.1:${await freePort()}/`] }),
    finding: /^problem target: The target http:\/\/127\.0\.0\.1:\d+ fails with connection_refused/,
    advice: /correct the port/,
  },
]

it('has at least twelve broken installations', () => {
  expect(installations.length).toBeGreaterThanOrEqual(12)
})

it.each(installations)(
  'names the cause: $name',
  async ({ breakIt, finding, advice }) => {
    const { env = {}, args = [] } = await breakIt()
    const diagnosis = await runDoctor({ ...secrets, DATABASE_URL: durable.url(), ...env }, '--stopped', ...args)
    expectCause(diagnosis, finding, advice)
  },
  90_000,
)

it('names the cause: the encryption key is another one', async () => {
  const belfry = await startBelfry('postgres', { services: ['api'], env: secrets })
  later(() => belfry.close())
  const path = `/api/v1/workspaces/${belfry.caller.workspaceId}/secrets/TOKEN`
  expect((await belfry.call('PUT', path, { value: 'a value' })).status).toBeLessThan(300)
  const env = { ...secrets, DATABASE_URL: belfry.databaseUrl }
  const fits = await runDoctor(env)
  expect(fits.findings).toContainEqual(expect.objectContaining({ check: 'keys', level: 'ok' }))
  const other = await runDoctor({ ...env, ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` })
  expectCause(other, /^problem keys: ENCRYPTION_KEYS does not fit this database: .*k1/, /Add the earlier key/)
}, 60_000)

it('names the cause: a dispatcher was killed during calls, and no scheduler runs', async () => {
  const target = await startReceiver()
  later(() => target.close())
  target.answer('/hangs', [{ does: 'hang' }])
  const belfry = await startBelfry('postgres', { services: ['api', 'dispatcher'], env: secrets })
  later(() => belfry.close())
  const event = { topic: 'a', payload: {}, target_url: target.url('/hangs') }
  expect((await belfry.call('POST', '/api/events', event)).status).toBe(202)
  await target.waitFor(() => target.requestsTo('/hangs').length > 0, 20_000)
  await belfry.services.find(({ name }) => name === 'dispatcher')?.stop('SIGKILL')
  expect((await belfry.call('POST', '/api/events', event)).status).toBe(202)
  const env = { ...secrets, DATABASE_URL: belfry.databaseUrl }
  const diagnosis = await waitFor(
    () => runDoctor(env),
    found => complaints(found).some(text => /belong to dead dispatchers/.test(text)),
    60_000,
  )
  expectCause(diagnosis, /^problem processes: No dispatcher is alive: the last heartbeat was at/, /Start a dispatcher/)
  expectCause(diagnosis, /^problem processes: No scheduler is alive: none has ever run/, /Start a scheduler/)
  expectCause(diagnosis, /^problem work: 1 attempts belong to dead dispatchers/, /Start a scheduler/)
  expectCause(diagnosis, /^warning work: 1 tasks that nothing blocks are late/, /dispatchers run/)
}, 120_000)

it('names the cause: tasks are still held after a restore', async () => {
  const belfry = await startBelfry('postgres', { services: ['api'], env: secrets })
  later(() => belfry.close())
  const event = { topic: 'a', payload: {}, target_url: 'https://example.com/' }
  expect((await belfry.call('POST', '/api/events', event)).status).toBe(202)
  await runMigrate('hold-overdue', belfry.databaseUrl)
  const diagnosis = await runDoctor({ ...secrets, DATABASE_URL: belfry.databaseUrl }, '--stopped')
  expectCause(
    diagnosis,
    /^warning work: 1 tasks, 0 cron jobs and 0 operations are held since a restore/,
    /release-held/,
  )
}, 60_000)

function expectCause(diagnosis: Diagnosis, finding: RegExp, advice: RegExp): void {
  const found = diagnosis.findings.find(({ level, check, message }) => finding.test(`${level} ${check}: ${message}`))
  expect([found?.message ?? complaints(diagnosis), diagnosis.output.length > 0]).toEqual([expect.any(String), true])
  expect(found?.advice).toMatch(advice)
  const worst = diagnosis.findings.some(({ level }) => level === 'problem') ? 2 : 1
  expect(diagnosis.code).toBe(worst)
  expect(diagnosis.output).not.toContain('hunter2')
}

async function database(): Promise<string> {
  const made = await createTestDatabase()
  later(() => made.drop())
  return made.url
}

async function emptyDatabase(): Promise<string> {
  const made = await createEmptyDatabase()
  later(() => made.drop())
  return made.url
}

async function redis(settings: Record<string, string>): Promise<string> {
  const dataDir = await mkdtemp(join(folder, 'redis-'))
  // Redis answers a ready check without its password only after the start, so this one is set later.
  const { requirepass, maxmemory, ...atStart } = settings
  const server = await startRedis({ dataDir, persist: true, settings: atStart })
  later(() => server.stop())
  for (const [name, value] of Object.entries({ maxmemory, requirepass })) {
    if (value !== undefined) await configure(server.url, name, value)
  }
  return server.url
}

async function configure(url: string, name: string, value: string): Promise<void> {
  const { Redis } = await import('ioredis')
  const client = new Redis(url)
  await client.config('SET', name, value)
  client.disconnect()
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

function migrate(databaseUrl: string): Promise<void> {
  return runMigrate('deploy', databaseUrl)
}

async function runMigrate(command: string, databaseUrl: string): Promise<void> {
  const program = join(repositoryRoot(), 'prisma/dist/main.mjs')
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
  await promisify(execFile)(process.execPath, [program, command], { env })
}
