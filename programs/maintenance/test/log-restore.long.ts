import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { finishPart, readNextPart, startPart } from '@belfry/db/log-parts/store-part'
import { openPool, type Pool } from '@belfry/db/postgres/pool'
import { toId } from '@belfry/domain/id'
import { checksumOf, type ObjectStorage, openObjectStorage, pack, parseStorageUrl } from '@belfry/object-storage'
import { createTestDatabase, findObjectStore, type ObjectStore, startObjectStore } from '@belfry/test-support'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

const program = new URL('../dist/main.mjs', import.meta.url).pathname

// `.ci/install` builds the S3 server with Go.
describe.skipIf(findObjectStore() === null)('belfry log restore', () => {
  let folder: string
  let store: ObjectStore
  let database: Awaited<ReturnType<typeof createTestDatabase>>
  let pool: Pool
  let objects: ObjectStorage
  let env: Record<string, string>
  const workspaceId = randomUUID()

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belfry-log-'))
    store = await startObjectStore(folder)
    database = await createTestDatabase()
    pool = openPool(database.url, { max: 2, onError: () => {} })
    vi.stubEnv('AWS_ACCESS_KEY_ID', store.accessKey)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', store.secretKey)
    const url = `s3://${store.bucket}/log?endpoint=${encodeURIComponent(store.endpoint)}`
    objects = openObjectStorage(parseStorageUrl(url))
    env = { DATABASE_URL: database.url, DATA_DIR: join(folder, 'data'), LOG_STORAGE_URL: url }
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await Promise.all([objects?.close(), pool?.end(), store?.close()])
    await database?.drop()
    await rm(folder, { recursive: true, force: true })
  })

  it('restores the runs of a day, of one workspace or of all, once', async () => {
    const day = await storePart()
    expect(await run('log', 'restore', day, '--workspace', toId('ws', randomUUID()))).toMatch(/^0 runs of .* 0 parts/)
    expect(await run('log', 'restore', day, '--workspace', toId('ws', workspaceId), '--days', '3')).toBe(
      `2 runs of ${day} restored from 1 parts, for 3 days\n`,
    )
    expect(await run('log', 'restore', day)).toMatch(/^0 runs/)
    const { rows } = await pool.query(
      `SELECT (SELECT count(*)::int FROM runs) AS runs, round(extract(epoch FROM hot_until - now()) / 86400)::int AS days FROM log_parts`,
    )
    expect(rows).toEqual([{ runs: 2, days: 3 }])
  })

  it('restores nothing from a damaged object', async () => {
    await pool.query('DELETE FROM log_parts')
    await pool.query('DELETE FROM runs')
    const day = await storePart()
    const { rows } = await pool.query<{ key: string }>('SELECT object_key AS key FROM log_parts')
    await writeFile(join(folder, 'objects', store.bucket, 'log', rows[0]?.key ?? ''), await pack(['{}']))
    await expect(run('log', 'restore', day)).rejects.toThrow(/cannot be read: (Checksum mismatch|its checksum differs)/)
    expect((await pool.query('SELECT FROM runs')).rowCount).toBe(0)
    await storePart(day) // the day has a part already
    await expect(run('log', 'restore', day)).rejects.toMatchObject({
      stdout: `2 runs of ${day} restored from 1 parts, for 7 days\n`,
      stderr: expect.stringContaining(`${rows[0]?.key} cannot be read`),
    })
  })

  it.each([
    [['2026-13-01'], /one in UTC/],
    [['2026-02-30'], /one in UTC/],
    [['2026-02-01', '--workspace', 'shop'], /--workspace takes/],
    [['2026-02-01', '--days', '0'], /--days takes/],
    [['2026-02-01', '--days', '3651'], /--days takes/],
  ])('refuses %j', async (args, message) => {
    await expect(run('log', 'restore', ...args)).rejects.toThrow(message)
  })

  it('says that LOG_STORAGE_URL is missing', async () => {
    env = { ...env, LOG_STORAGE_URL: '' }
    await expect(run('log', 'restore', '2026-02-01')).rejects.toThrow('LOG_STORAGE_URL is not set')
  })

  async function run(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], {
      env: { ...process.env, ...env },
    })
    return stdout
  }

  /** Stores a part with two runs of a day. Returns the day. `continued`: the day, when it has a part already. */
  async function storePart(continued: string | null = null): Promise<string> {
    await pool.query(
      `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at)
       SELECT uuid_v7(at + n * interval '1 s'), $1, gen_random_uuid(), 1, 'task', 'success', at, at, at
       FROM (SELECT date_trunc('day', now()) - interval '9 days 12 hours' AS at) t, generate_series(1, 2) n`,
      [workspaceId],
    )
    const { day, runs } = await readNextPart(pool, { workspaceId, hotDays: 2, keptDays: 365, continued })
    const object = await pack(runs.map(({ line }) => line))
    const content = { workspaceId, day: day ?? '', runs, objectBytes: object.length, checksum: checksumOf(object) }
    const part = await startPart(pool, content, id => `${id}.jsonl.gz`)
    await objects.write(part?.objectKey ?? '', object, content.checksum)
    await finishPart(pool, workspaceId, part?.id ?? '', runs)
    return day ?? ''
  }
})
