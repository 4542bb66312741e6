import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findRunningPostgres } from '@belfry/embedded'
import { findObjectStore, type ObjectStore, startObjectStore } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NpmStart, runNpmStart } from '../npm-start.ts'
import { runMaintenance, succeed } from './run-maintenance.ts'

// `.ci/install` builds the S3 server with Go.
describe.skipIf(findObjectStore() === null)('on object storage', () => {
  let folder: string
  let store: ObjectStore
  let belfry: NpmStart
  let env: Record<string, string>

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belfry-bucket-'))
    store = await startObjectStore(folder)
    env = {
      DATA_DIR: join(folder, 'data'),
      BACKUP_FOLDER: `s3://${store.bucket}/production/belfry`,
      BACKUP_S3_ENDPOINT: store.endpoint,
      BACKUP_SCHEDULE: '* * * * *',
      BACKUP_KEEP: '2',
      AWS_ACCESS_KEY_ID: store.accessKey,
      AWS_SECRET_ACCESS_KEY: store.secretKey,
    }
    belfry = await runNpmStart(env)
  }, 120_000)
  afterAll(async () => {
    await belfry?.stop()
    await store?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('makes, lists, verifies, restores and prunes backups of more than one part', async () => {
    await fill(12)
    const made = JSON.parse(await succeed(env, 'backup', '--json'))
    expect(made.files[0].bytes).toBeGreaterThan(10 * 1024 * 1024) // parts have 5 MB
    expect(await succeed(env, 'backup', 'list')).toContain(made.name)
    const address = `${env.BACKUP_FOLDER}/${made.name}`
    expect(JSON.parse(await succeed(env, 'backup', 'verify', address, '--json'))).toMatchObject({
      ok: true,
      problems: [],
    })
    const elsewhere = { ...env, DATA_DIR: join(folder, 'elsewhere') }
    expect(await succeed(elsewhere, 'restore', made.name, '--without-secrets')).toMatch(/^0 tasks held$/m)
    const objects = join(folder, 'objects', store.bucket, 'production/belfry')
    const damaged = 'belfry-20200101T000000Z'
    await mkdir(join(objects, damaged))
    await writeFile(join(objects, damaged, 'manifest.json'), '{}')
    for (let i = 0; i < 2; i++) {
      await new Promise(resolve => setTimeout(resolve, 1_100)) // names have seconds
      await succeed(env, 'backup', '--keep', '2')
    }
    const listed = await succeed(env, 'backup', 'list')
    expect(listed).not.toContain(made.name)
    expect(listed).toContain(`${damaged}  cannot be read: The manifest.json of this backup is damaged`)
    expect(await readdir(objects)).not.toContain(made.name)
    await rm(join(objects, damaged), { recursive: true })
  }, 180_000)

  it('makes scheduled backups while npm start runs, and keeps the newest', async () => {
    const startedAt = new Date().toISOString()
    const newest = async () => JSON.parse((await succeed(env, 'backup', 'list', '--json')).split('\n')[0] || '{}')
    await waitFor(newest, ({ createdAt = '' }) => createdAt > startedAt, 90_000)
    await waitFor(
      async () => (await succeed(env, 'backup', 'list')).trim().split('\n'),
      ({ length }) => length === 2, // once it has deleted the oldest
      20_000,
    )
    await waitFor(
      () => readFile(join(folder, 'data/logs/backup.log'), 'utf8'),
      log => log.includes('"backup.made"'),
    )
  }, 120_000)

  it('names the place and the reason when the storage refuses', async () => {
    const { code, error } = await runMaintenance({ ...env, AWS_SECRET_ACCESS_KEY: 'wrong' }, 'backup', 'list')
    expect([code, error]).toEqual([
      1,
      expect.stringMatching(/^Object storage s3:\/\/backups\/production\/belfry: SignatureDoesNotMatch/m),
    ])
  })

  // Random bytes, which no compression makes smaller.
  async function fill(megabytes: number): Promise<void> {
    const running = await findRunningPostgres(join(folder, 'data/postgres'))
    const client = new pg.Client({ connectionString: running?.url() })
    await client.connect()
    await client.query('CREATE TABLE filler (bytes bytea)')
    await client.query(
      `INSERT INTO filler
       SELECT (SELECT string_agg(uuid_send(gen_random_uuid()), '') FROM generate_series(1, 65536) WHERE n > 0)
       FROM generate_series(1, $1::int) n`,
      [megabytes],
    )
    await client.end()
  }
})
