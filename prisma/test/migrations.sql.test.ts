import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { checkMigrations } from '../dev/check-migrations.ts'
import { deployMigrations } from '../src/migrate/deploy-migrations.ts'
import { waitForMigrations } from '../src/migrate/wait-for-migrations.ts'
import { connect, copyFolder, emptyDatabase, later, nothingWrong, testDatabase } from './setup-migrations.ts'

describe('deployMigrations', () => {
  it('applies every migration to an empty database once', async () => {
    const { url } = await emptyDatabase()
    expect(await deployMigrations(url)).toContain('20261127000000_baseline')
    expect(await deployMigrations(url)).toEqual([])
  })

  it('applies a migration once when three deploy at once', async () => {
    const { url, query } = await emptyDatabase()
    const names = await Promise.all([deployMigrations(url), deployMigrations(url), deployMigrations(url)])
    const [applied, ...others] = names.sort((a, b) => b.length - a.length)
    expect(others).toEqual([[], []])
    expect(await query('SELECT migration_name FROM _prisma_migrations ORDER BY 1')).toEqual(
      applied?.filter(name => !name.endsWith('.sql')).map(migration_name => ({ migration_name })),
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
      expect(await checkMigrations(url, repaired)).toMatchObject({ unknown: [], pending: [later] })
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

  it('leaves no connection behind', async () => {
    const { url, query } = await emptyDatabase()
    await deployMigrations(url)
    await checkMigrations(url)
    const others = 'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
    await expect.poll(() => query(others)).toEqual([])
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
  it('finds the primary among several hosts', async () => {
    const { url } = await testDatabase()
    const { host } = new URL(url)
    await waitForMigrations(url.replace(host, `${host},${host}`), missing => expect(missing).toEqual([]))
  })

  it('resolves when another process has applied everything, also on an empty database', async () => {
    const { url } = await emptyDatabase()
    const told: number[] = []
    const waiting = waitForMigrations(url, missing => told.push(missing.length))
    await expect.poll(() => told).toHaveLength(1)
    const applied = await deployMigrations(url)
    await waiting
    expect(told[0]).toBe(applied.length)
  })

  it('waits for a missing migration, and ignores those of a later version', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({ [later]: 'CREATE TABLE later (id int)' })
    const told: string[][] = []
    const waiting = waitForMigrations(url, missing => told.push(missing), folder)
    await expect.poll(() => told).toEqual([[later]])
    await deployMigrations(url, folder)
    await waiting
    await waitForMigrations(url, missing => told.push(missing))
    expect(told).toHaveLength(1)
    expect(await query('SELECT * FROM later')).toEqual([])
  })
})

it('checkMigrations finds that schema, migrations and a migrated database agree', async () => {
  const { url } = await testDatabase()
  expect(await checkMigrations(url)).toEqual(nothingWrong)
})
