import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { findRunningPostgres, startPostgres } from '@belfry/embedded'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Caller, callApi, inMs, signUp } from '../api-calls.ts'
import { findCanaries } from '../canaries.ts'
import { type NpmStart, runNpmStart } from '../npm-start.ts'
import { repositoryRoot } from '../repository-root.ts'
import { runMaintenance, succeed } from './run-maintenance.ts'

let folder: string
let env: Record<string, string>
let belfry: NpmStart
let target: Receiver
let caller: Caller

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belfry-backups-'))
  target = await startReceiver()
  env = {
    DATA_DIR: join(folder, 'data'),
    BACKUP_FOLDER: join(folder, 'backups'),
    REGISTRATION: 'open',
    DEFAULT_TIER: 'unlimited',
  }
  belfry = await runNpmStart(env)
  caller = await signUp(belfry.url)
}, 120_000)
afterAll(async () => {
  await belfry?.stop()
  await target?.close()
  await rm(folder, { recursive: true, force: true })
})

const calls = (name: string) => target.requests.filter(({ path }) => path.startsWith(`/${name}/`))
const arrive = (name: string, count: number) =>
  waitFor(
    async () => calls(name).length,
    seen => seen >= count,
    40_000,
  )

async function callQueue(method: string, action: string, body?: object) {
  const { status } = await callApi(belfry.url, caller, method, `/api/v1/scheduler/queues/paused${action}`, body)
  expect(status).toBeLessThan(300)
}

async function connect(): Promise<pg.Client> {
  const running = await findRunningPostgres(join(folder, 'data/postgres'))
  const client = new pg.Client({ connectionString: running?.url() })
  await client.connect()
  return client
}

async function create(name: string, count: number, aheadMs: number, queue?: string): Promise<string[]> {
  const tasks = Array.from({ length: count }, (_, i) => {
    return {
      name,
      url: target.url(`/${name}/${i}`),
      method: 'POST',
      execute_at: inMs(aheadMs),
      payload: { big: 'x'.repeat(2000) },
      ...(queue && { queue }),
    }
  })
  const { body } = await callApi(belfry.url, caller, 'POST', '/api/v1/scheduler/tasks/batch', { tasks })
  return body.data.map((row: { task?: { id: string } }) => row.task?.id ?? '')
}

it('loses no task accepted before a backup of a running installation, and holds those delivered since', async () => {
  const path = `/api/v1/workspaces/${caller.workspaceId}/secrets/TOKEN`
  await callApi(belfry.url, caller, 'PUT', path, { value: 'a stored secret' })
  await create('before', 5, 1_500)
  await arrive('before', 5)
  // These wait for their queue, due, until the backup is made.
  await callQueue('PUT', '', {})
  await callQueue('POST', '/pause')
  await create('between', 10, 1_000, 'paused')
  const far = await create('far', 300, 3_600_000)
  // Tasks are created while the backup is made, and checkpoints remove the log that nothing needs.
  const during: string[][] = []
  let isMaking = true
  const load = (async () => {
    const client = await connect()
    while (isMaking) {
      during.push(await create('during', 50, 3_600_000))
      await client.query('SELECT pg_switch_wal()')
      await client.query('CHECKPOINT')
    }
    await client.end()
  })()
  const made = JSON.parse(await succeed(env, 'backup', '--json'))
  isMaking = false
  await load
  expect(calls('between')).toEqual([])
  await callQueue('POST', '/resume')
  expect(made).toMatchObject({ kind: 'files', hasSecrets: false, format: 1 })
  await arrive('between', 10)
  await create('after', 3, 1_500)
  await arrive('after', 3)
  await belfry.stop()

  const printed = await succeed(env, 'restore', made.name)
  expect(printed).toMatch(/^10 tasks held$/m)
  expect(printed).toMatch(/^database is up to date$/m)
  belfry = await runNpmStart(env)
  const read = (id: string) => callApi(belfry.url, caller, 'GET', `/api/v1/scheduler/tasks/${id}`)
  for (const id of [far[0], far[150], far[299]]) expect((await read(String(id))).body.state).toBe('pending')
  // A batch is in the backup as a whole or not at all.
  for (const ids of during) {
    const statuses = new Set<number>()
    for (const id of ids) statuses.add((await read(id)).status)
    expect([[200], [404]]).toContainEqual([...statuses])
  }
  await create('new', 3, 2_000)
  await arrive('new', 3)
  expect([calls('before').length, calls('between').length, calls('after').length]).toEqual([5, 10, 3])
  expect(await release('ws_01jdc8z6wqf8vv5x2m9k3n7p4r')).toBe('0 tasks released')
  expect(await release()).toBe('10 tasks released')
  await callQueue('POST', '/resume')
  await arrive('between', 20)
  const ids = calls('between').map(({ rawHeaders }) => rawHeaders[rawHeaders.indexOf('webhook-id') + 1])
  expect(new Set(ids).size).toBe(10) // the receiver can recognize the repeated ones
}, 180_000)

it('verifies a backup in a temporary database', async () => {
  const printed = JSON.parse(await succeed(env, 'backup', 'verify', '--json'))
  expect(printed).toMatchObject({ ok: true, problems: [], rows: { secrets: 1, organizations: 2 } })
  expect(printed.rows.tasks).toBeGreaterThanOrEqual(315)
  expect((await runMaintenance(env, 'restore', 'latest', '--drill')).code).toBe(0)
}, 90_000)

it('contains the encryption key only when asked', async () => {
  const secrets = await readFile(join(folder, 'data/secrets.json'), 'utf8')
  const { ENCRYPTION_KEYS, JWT_SECRET } = JSON.parse(secrets)
  const canaries = { 'encryption key': ENCRYPTION_KEYS.slice(3), 'JWT secret': JWT_SECRET }
  const plain = JSON.parse(await succeed(env, 'backup', '--json'))
  const content = async (name: string) => {
    const place = join(folder, 'backups', name)
    const files = await readdir(place)
    const texts = await Promise.all(files.map(async file => [file, await readFile(join(place, file))] as const))
    return Object.fromEntries(
      texts.map(([file, bytes]) => [file, (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1')]),
    )
  }
  expect(findCanaries(canaries, await content(plain.name))).toEqual([])
  await new Promise(resolve => setTimeout(resolve, 1_100)) // names have seconds
  const asked = JSON.parse(await succeed(env, 'backup', '--with-secrets', '--json'))
  const found = findCanaries(canaries, await content(asked.name))
  expect(found).toContain('encryption key, plain, secrets.json')
  // A folder without keys gets those of the backup, and none by accident.
  const elsewhere = { ...env, DATA_DIR: join(folder, 'elsewhere') }
  const refused = await runMaintenance(elsewhere, 'restore', plain.name)
  expect([refused.code, refused.error]).toEqual([1, expect.stringContaining('has no secrets.json')])
  await succeed(elsewhere, 'restore', asked.name)
  expect(await readFile(join(folder, 'elsewhere/secrets.json'), 'utf8')).toBe(secrets)
}, 120_000)

it('refuses to restore into a running installation, and damaged backups', async () => {
  const running = await runMaintenance(env, 'restore', 'latest')
  expect([running.code, running.error]).toEqual([1, expect.stringMatching(/^Belfry runs on .* Stop it first/)])
  const [name = ''] = (await succeed(env, 'backup', 'list')).split(' ')
  const file = join(folder, 'backups', name, 'cluster.tar.gz')
  const bytes = await readFile(file)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  await writeFile(file, bytes)
  const damaged = await runMaintenance(env, 'backup', 'verify')
  expect([damaged.code, damaged.error]).toEqual([1, expect.stringMatching(/cluster\.tar\.gz .* is damaged/)])
  await rm(join(folder, 'backups', name, 'manifest.json'))
  expect(await succeed(env, 'backup', 'list')).not.toContain(name) // incomplete
  expect((await runMaintenance(env, 'restore', 'belfry-20200101T000000Z', '--drill')).error).toMatch(
    /^There is no backup/,
  )
}, 90_000)

it('finds a broken invariant and a foreign key in a backup', async () => {
  const client = await connect()
  // A trigger would refuse it.
  await client.query(`SET session_replication_role = replica`)
  await client.query(`DELETE FROM task_requests WHERE task_id = (SELECT id FROM tasks WHERE state = 'pending' LIMIT 1)`)
  await client.query(
    `INSERT INTO cron_jobs (id, workspace_id, name, cron, timezone, overlap, catch_up, next_run_at, url, method,
                            max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
     SELECT gen_random_uuid(), id, 'Unreadable', '* * * * *', 'Mars/Base', 'allow', 'all', now(), 'https://example.com/',
            'POST', 0, 'fixed', 1, 1, 1 FROM workspaces LIMIT 1`,
  )
  await client.end()
  await new Promise(resolve => setTimeout(resolve, 1_100))
  await succeed(env, 'backup')
  const { code, out } = await runMaintenance(
    { ...env, ENCRYPTION_KEYS: `k1:${Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString('base64')}` },
    'backup',
    'verify',
  )
  expect(code).toBe(1)
  expect(out).toContain('There are 1 waiting tasks without a request.')
  expect(out).toMatch(/ENCRYPTION_KEYS does not fit this backup/)
}, 90_000)

it('replaces data only by a backup that passes its check, also after an interrupted restore', async () => {
  const elsewhere = { ...env, DATA_DIR: join(folder, 'elsewhere') }
  const place = join(folder, 'elsewhere/postgres')
  await writeFile(join(place, 'previous'), '')
  const broken = await runMaintenance(elsewhere, 'restore', 'latest')
  expect([broken.code, broken.error]).toEqual([1, 'The restored database is not what the backup describes.\n'])
  expect(broken.out).toMatch(/^cron job cron_\w+ is held as a whole/m)
  expect(await readdir(place)).toContain('previous')
  const leftover = await startPostgres({ dataDir: `${place}.restored` })
  const [, good = ''] = (await succeed(env, 'backup', 'list')).split('\n')
  await succeed(elsewhere, 'restore', good.split(' ')[0] ?? '')
  await leftover.exited
  expect(await readdir(place)).not.toContain('previous')
}, 90_000)

async function release(workspaceId = caller.workspaceId ?? ''): Promise<string> {
  const program = join(repositoryRoot(), 'programs/cli/dist/main.mjs')
  const args = [program, 'release-held', '--workspace', workspaceId]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH: process.env.PATH, ...env } })
  return stdout.trim()
}
