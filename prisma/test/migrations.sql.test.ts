import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEmptyDatabase, createTestDatabase } from '@belfry/test-support'
import pg from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { checkMigrations, createMigration, deployMigrations } from '../src/migrate/index.ts'
import { findMigrationFolder } from '../src/migrate/migration-folder.ts'
import { settleMigration } from '../src/migrate/settle-migration.ts'
import { waitForMigrations } from '../src/migrate/wait-for-migrations.ts'

const later = '20990101000000_later'
const nothingWrong = { drift: null, missing: null, edited: [], failed: [], pending: [], unknown: [] }

describe('deployMigrations', () => {
  it('applies every migration to an empty database once', async () => {
    const { url } = await emptyDatabase()
    expect(await deployMigrations(url)).toContain('20261121000000_first_tables')
    expect(await deployMigrations(url)).toEqual([])
  })

  it('applies a migration once when three deploy at once', async () => {
    const { url, query } = await emptyDatabase()
    const names = await Promise.all([deployMigrations(url), deployMigrations(url), deployMigrations(url)])
    const [applied, ...others] = names.sort((a, b) => b.length - a.length)
    expect(others).toEqual([[], []])
    expect(await query('SELECT migration_name FROM _prisma_migrations ORDER BY 1')).toEqual(
      applied?.map(migration_name => ({ migration_name })),
    )
  })

  it('lets one deployment build an index concurrently while another waits', async () => {
    const { url } = await testDatabase()
    const folder = await copyFolder({ [later]: 'CREATE INDEX CONCURRENTLY ON users (name)' })
    const names = await Promise.all([deployMigrations(url, folder), deployMigrations(url, folder)])
    expect(names.flat()).toEqual([later])
  })

  it('rolls back a failing migration completely, names it, and applies it once it is repaired', async () => {
    const { url, query } = await testDatabase()
    const broken = await copyFolder({ [later]: 'CREATE TABLE half (id int);\nSELECT 1;\nSELECT broken FROM half' })
    const repaired = await copyFolder({ [later]: 'CREATE TABLE half (id int)' })
    for (const _attempt of ['first', 'second']) {
      await expect(deployMigrations(url, broken)).rejects.toThrow(
        `Migration ${later} failed: column "broken" does not exist (line 3)`,
      )
      expect(await query(`SELECT to_regclass('half')`)).toEqual([{ to_regclass: null }])
      expect(await checkMigrations(url, repaired)).toMatchObject({ failed: [], pending: [later] })
    }
    expect(await deployMigrations(url, repaired)).toEqual([later])
    expect(await query('SELECT * FROM half')).toEqual([])
  })

  it('retries while a reader holds a lock, names the reader, and lets other statements through', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({ [later]: 'ALTER TABLE tasks ADD COLUMN late text' })
    const reader = await connect(url)
    await reader.query(`SET application_name = 'nightly report'; BEGIN; SELECT count(*) FROM tasks`)
    const onBlocked = vi.fn<(line: string) => void>()
    const deployed = deployMigrations(url, folder, { onBlocked })
    await vi.waitFor(() => expect(onBlocked).toHaveBeenCalled(), 5_000)
    const waits: number[] = []
    for (let i = 0; i < 20; i++) {
      const began = performance.now()
      await query('SELECT FROM tasks LIMIT 1')
      waits.push(performance.now() - began)
      await sleep(100)
    }
    await reader.query('COMMIT')
    expect(await deployed).toEqual([later])
    expect(Math.max(...waits)).toBeLessThan(3_000)
    expect(onBlocked.mock.calls).toEqual([
      [
        expect.stringMatching(
          /^migration 2099\S+ waits for a lock, which is held by pid \d+ \(nightly report, in a trans/,
        ),
      ],
    ])
    expect(await query('SELECT late FROM tasks')).toEqual([])
  })

  it('gives up after its patience with the statement that ends the reader', async () => {
    const { url } = await testDatabase()
    const folder = await copyFolder({ [later]: 'ALTER TABLE tasks ADD COLUMN late text' })
    const reader = await connect(url)
    await reader.query('BEGIN; SELECT count(*) FROM tasks')
    const { pid } = (await reader.query('SELECT pg_backend_pid() AS pid')).rows[0]
    await expect(deployMigrations(url, folder, { patienceMs: 0 })).rejects.toThrow(
      `SELECT pg_terminate_backend(${pid});`,
    )
  })

  it('applies nothing of a migration that is cancelled, and all of it later', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({ [later]: 'CREATE TABLE half (id int); SELECT pg_sleep(1)' })
    const stop = new AbortController()
    const deployed = deployMigrations(url, folder, { signal: stop.signal })
    const asleep = `SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`
    await vi.waitFor(async () => expect(await query(asleep)).toHaveLength(1), 5_000)
    stop.abort()
    await expect(deployed).rejects.toThrow(`Migration ${later} was cancelled. Nothing of it was applied.`)
    expect(await query(`SELECT to_regclass('half')`)).toEqual([{ to_regclass: null }])
    expect(await deployMigrations(url, folder)).toEqual([later])
  })

  it('records a migration in the transaction that applies it', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({ [later]: 'CREATE TABLE whole (id int)' })
    await query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no space'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON _prisma_migrations EXECUTE FUNCTION refuse()`)
    await expect(deployMigrations(url, folder)).rejects.toThrow('no space')
    expect(await query(`SELECT to_regclass('whole')`)).toEqual([{ to_regclass: null }])
  })

  it('builds an index again that an interrupted migration left invalid, and keeps a complete one', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({ [later]: 'CREATE UNIQUE INDEX CONCURRENTLY once_idx ON things (id)' })
    await query('CREATE TABLE things AS SELECT 1 AS id FROM generate_series(1, 2)')
    await expect(deployMigrations(url, folder)).rejects.toThrow('could not create unique index')
    await query('DELETE FROM things')
    expect(await deployMigrations(url, folder)).toEqual([later])
    const valid = `SELECT indisvalid FROM pg_index WHERE indexrelid = 'once_idx'::regclass`
    expect(await query(valid)).toEqual([{ indisvalid: true }])
    await query(`DELETE FROM _prisma_migrations WHERE migration_name = '${later}'`)
    expect(await deployMigrations(url, folder)).toEqual([later])
  })

  it('does not guess the outcome of a migration that an earlier version left unfinished', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({ [later]: 'CREATE TABLE finished (id int)' })
    const leaveUnfinished = () =>
      query(`UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '${later}'`)
    const lines: string[] = []
    const settle = (outcome: 'applied' | 'rolled-back' | null) =>
      settleMigration(url, later, outcome, line => lines.push(line))
    await deployMigrations(url, folder)
    await leaveUnfinished()
    await expect(deployMigrations(url, folder)).rejects.toThrow(`Run "settle ${later}"`)
    expect(await settle(null)).toBe(1)
    expect(lines[0]).toContain('DROP TABLE "finished"')
    expect(await settle('applied')).toBe(0)
    expect(await deployMigrations(url, folder)).toEqual([])
    await expect(settle('applied')).rejects.toThrow('is not unfinished')

    await leaveUnfinished()
    await query('DROP TABLE finished')
    expect(await settle('rolled-back')).toBe(0)
    expect(await deployMigrations(url, folder)).toEqual([later])
  })

  it('leaves no connection behind', async () => {
    const { url, query } = await emptyDatabase()
    await deployMigrations(url)
    await checkMigrations(url)
    const others = 'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
    await vi.waitFor(async () => expect(await query(others)).toEqual([]))
  })

  it('leaves no timer behind that would keep the process alive', async () => {
    const { url } = await emptyDatabase()
    const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
    const before = timers()
    await deployMigrations(url)
    expect(timers()).toBeLessThanOrEqual(before)
  })
})

describe('waitForMigrations', () => {
  it('resolves when another process has applied everything, also on an empty database', async () => {
    const { url } = await emptyDatabase()
    const told: number[] = []
    const waiting = waitForMigrations(url, missing => told.push(missing.length))
    await vi.waitFor(() => expect(told).toHaveLength(1))
    const applied = await deployMigrations(url)
    await waiting
    expect(told[0]).toBe(applied.length)
  })

  it('waits for a missing migration, and ignores those of a later version', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({ [later]: 'CREATE TABLE later (id int)' })
    const told: string[][] = []
    const waiting = waitForMigrations(url, missing => told.push(missing), folder)
    await vi.waitFor(() => expect(told).toEqual([[later]]))
    await deployMigrations(url, folder)
    await waiting
    await waitForMigrations(url, missing => told.push(missing))
    expect(told).toHaveLength(1)
    expect(await query('SELECT * FROM later')).toEqual([])
  })
})

describe('checkMigrations', () => {
  it('finds that schema, migrations and a migrated database agree', async () => {
    const { url } = await testDatabase()
    expect(await checkMigrations(url)).toEqual(nothingWrong)
  })

  it('takes neither a further partition nor a table of another schema for a difference', async () => {
    const { url, query } = await testDatabase()
    await query('SELECT create_run_partitions(12); CREATE SCHEMA other; CREATE TABLE other.things (id int)')
    expect(await checkMigrations(url)).toEqual(nothingWrong)
  })

  it('finds a column added by hand', async () => {
    const { url, query } = await testDatabase()
    await query('ALTER TABLE users ADD COLUMN by_hand text')
    expect(await checkMigrations(url)).toEqual({
      ...nothingWrong,
      drift: expect.stringContaining('ALTER TABLE "users" DROP COLUMN "by_hand"'),
    })
  })

  it('rejects migrations that cannot be replayed', async () => {
    const { url } = await testDatabase()
    const folder = await copyFolder({ [later]: 'SELECT broken' })
    await expect(checkMigrations(url, folder)).rejects.toThrow(/20990101000000_later.*column "broken" does not exist/s)
  })

  it('finds what the migrations lack to reach the schema', async () => {
    const { url } = await testDatabase()
    const folder = await copyFolder({})
    await changeSchema(folder, 'model User {', 'model User {\n  nickname String?')
    const lack = expect.stringContaining('ALTER TABLE "users" ADD COLUMN     "nickname" TEXT')
    expect(await checkMigrations(url, folder)).toEqual({ ...nothingWrong, drift: lack, missing: lack })
  })

  it('names pending, edited and unknown migrations', async () => {
    const { url } = await testDatabase()
    const folder = await copyFolder({ [later]: 'SELECT 1' })
    expect(await checkMigrations(url, folder)).toEqual({ ...nothingWrong, pending: [later] })
    await deployMigrations(url, folder)
    await writeMigration(folder, later, 'SELECT 2')
    expect(await checkMigrations(url, folder)).toEqual({ ...nothingWrong, edited: [later] })
    expect(await checkMigrations(url)).toEqual({ ...nothingWrong, unknown: [later] })
  })

  it('drops the database in which it replayed the migrations', async () => {
    const { url, query } = await testDatabase()
    const shadows = () => query(`SELECT datname FROM pg_database WHERE datname LIKE 'belfry_shadow_%'`)
    const before = await shadows()
    await checkMigrations(url)
    expect(await shadows()).toEqual(before)
  })
})

describe('createMigration', () => {
  it('writes nothing when the migrations agree with the schema', async () => {
    const { url } = await testDatabase()
    expect(await createMigration(url, 'nothing new')).toBeNull()
  })

  it('writes a migration to the schema', async () => {
    const { url } = await testDatabase()
    const folder = await copyFolder({})
    await changeSchema(folder, 'model User {', 'model User {\n  nickname String?')
    const path = await createMigration(url, 'Add nickname', folder)
    expect(path).toMatch(/[\\/]migrations[\\/]\d{14}_add_nickname[\\/]migration\.sql$/)
    await deployMigrations(url, folder)
    expect(await checkMigrations(url, folder)).toEqual(nothingWrong)
  })

  it('removes the transaction of the engine around a changed enum', async () => {
    const { url } = await testDatabase()
    const folder = await copyFolder({})
    await changeSchema(folder, /^ {2}linear\n/m, '')
    const path = await createMigration(url, 'drop linear', folder)
    const script = await readFile(String(path), 'utf8')
    expect(script).toContain('CREATE TYPE "backoff_new"')
    expect(script).not.toMatch(/BEGIN|COMMIT/)
    await deployMigrations(url, folder)
    expect(await checkMigrations(url, folder)).toEqual(nothingWrong)
  })

  it('refuses while the database differs from its migrations', async () => {
    const { url, query } = await testDatabase()
    await query('ALTER TABLE users ADD COLUMN by_hand text')
    await expect(createMigration(url, 'add more')).rejects.toThrow('Added column `by_hand`')
  })
})

async function testDatabase() {
  return open(await createTestDatabase())
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

async function emptyDatabase() {
  return open(await createEmptyDatabase())
}

async function open(database: { url: string; drop(): Promise<void> }) {
  const pool = new pg.Pool({ connectionString: database.url })
  // The end of a pool does not wait for its connections, so the database may be dropped before they are closed.
  pool.on('error', () => {})
  onTestFinished(async () => {
    await pool.end()
    await database.drop()
  })
  return { url: database.url, query: async (sql: string) => (await pool.query(sql)).rows }
}

/** A copy of the real schema and migrations, with these migrations after them. */
async function copyFolder(added: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const original = findMigrationFolder()
  await cp(join(original, 'schema.prisma'), join(folder, 'schema.prisma'))
  await cp(join(original, 'migrations'), join(folder, 'migrations'), { recursive: true })
  for (const [name, script] of Object.entries(added)) await writeMigration(folder, name, script)
  return folder
}

async function writeMigration(folder: string, name: string, script: string): Promise<void> {
  await mkdir(join(folder, 'migrations', name), { recursive: true })
  await writeFile(join(folder, 'migrations', name, 'migration.sql'), script)
}

async function changeSchema(folder: string, from: string | RegExp, to: string): Promise<void> {
  const path = join(folder, 'schema.prisma')
  const schema = await readFile(path, 'utf8')
  const changed = schema.replace(from, to)
  if (changed === schema) throw new Error(`The schema has no ${from}.`)
  await writeFile(path, changed)
}
