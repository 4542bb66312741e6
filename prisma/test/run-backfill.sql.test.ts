import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEmptyDatabase } from '@belfry/test-support'
import pg from 'pg'
import { beforeEach, expect, it, vi } from 'vitest'
import { deployMigrations } from '../src/migrate/deploy-migrations.ts'
import { runBackfills } from '../src/migrate/run-backfill.ts'

const name = '20990101000000_things'
const rows = 2_500 // more than two batches
const isBuilding = `
  SELECT pid FROM pg_stat_activity
  WHERE query LIKE 'CREATE INDEX CONCURRENTLY filled_idx%' AND wait_event_type = 'Lock' AND datname = current_database()`
const statement = 'UPDATE things SET filled = filled + 1 WHERE id > $1 AND id <= $2'

let url: string
let folder: string
let client: pg.Client
const clients: pg.Client[] = []

beforeEach(async () => {
  const database = await createEmptyDatabase()
  url = database.url
  folder = await mkdtemp(join(tmpdir(), 'belfry-backfill-'))
  await mkdir(join(folder, 'sql'))
  client = await connect()
  await client.query(`
    CREATE TABLE things (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), filled int NOT NULL DEFAULT 0);
    INSERT INTO things SELECT FROM generate_series(1, ${rows})`)
  await writeBackfill(`-- table: things\n${statement}\n`)
  return async () => {
    await Promise.all(clients.splice(0).map(one => one.end()))
    await database.drop()
    await rm(folder, { recursive: true })
  }
})

it('changes every row once, in batches, and nothing the next time', async () => {
  const lines: string[] = []
  expect(await runBackfills(url, folder, { print: line => lines.push(line) })).toBe(rows)
  expect(await filled()).toEqual([{ filled: 1, n: rows }])
  expect(lines.at(-1)).toBe(`backfill ${name}: finished, 2500 rows read`)
  expect(await runBackfills(url, folder)).toBe(0)
  expect(await filled()).toEqual([{ filled: 1, n: rows }])
})

it('continues after the batch in flight when it is stopped', async () => {
  const stop = new AbortController()
  const stopped = runBackfills(url, folder, { batchSize: 100, signal: stop.signal })
  await expect.poll(position).toBeGreaterThan(0)
  stop.abort(new Error('Stopped.'))
  await expect(stopped).rejects.toThrow()
  const done = await position()
  expect(done).toBeLessThan(rows)
  expect(await filled(1)).toEqual([{ filled: 1, n: done }])
  expect(await runBackfills(url, folder, { batchSize: 100 })).toBe(rows - done)
  expect(await filled()).toEqual([{ filled: 1, n: rows }])
})

it('loses and repeats no row when its session is killed in the middle of a batch', async () => {
  await writeBackfill(
    `-- table: things\nWITH slow AS (SELECT pg_sleep(0.2)) ${statement} AND EXISTS (SELECT FROM slow)`,
  )
  const killed = runBackfills(url, folder, { batchSize: 600 })
  killed.catch(() => {})
  await vi.waitFor(async () => expect(await position()).toBeGreaterThan(0), 5_000)
  const isWorking = `
    SELECT pid FROM pg_stat_activity
    WHERE application_name = 'belfry-backfill' AND wait_event = 'PgSleep' AND datname = current_database()`
  const pid = await vi.waitFor(async () => {
    const working = await client.query(isWorking)
    expect(working.rows).toHaveLength(1)
    return working.rows[0].pid
  }, 5_000)
  await client.query('SELECT pg_terminate_backend($1)', [pid])
  await expect(killed).rejects.toThrow()
  const done = await position()
  expect(done % 600).toBe(0)
  expect(await runBackfills(url, folder, { batchSize: 600 })).toBe(rows - done)
  expect(await filled()).toEqual([{ filled: 1, n: rows }])
})

it('waits for a row that another transaction has locked, and does each batch once when two run', async () => {
  const other = await connect()
  await other.query('BEGIN; SELECT FROM things FOR UPDATE LIMIT 1')
  const lines: string[] = []
  const both = Promise.all([runBackfills(url, folder, { print: line => lines.push(line) }), runBackfills(url, folder)])
  await vi.waitFor(() => expect(lines.join()).toContain('waits for a lock, which is held by pid'), 5_000)
  await other.query('COMMIT')
  expect((await both).reduce((sum, read) => sum + read, 0)).toBe(rows)
  expect(await filled()).toEqual([{ filled: 1, n: rows }])
})

it('refuses a file without a table or without the range', async () => {
  await writeBackfill(statement)
  await expect(runBackfills(url, folder)).rejects.toThrow(`The backfill of ${name} needs a first line`)
  await writeBackfill('-- table: things\nUPDATE things SET filled = 1')
  await expect(runBackfills(url, folder)).rejects.toThrow('a statement with $1 and $2')
})

it('builds an index concurrently again after the session of the first build was killed', async () => {
  await writeFile(
    join(folder, 'migrations', name, 'migration.sql'),
    'CREATE INDEX CONCURRENTLY filled_idx ON things (filled)',
  )
  const reader = await connect()
  await reader.query('BEGIN; UPDATE things SET filled = 0 WHERE false') // the build waits for it
  const killed = deployMigrations(url, folder)
  killed.catch(() => {})
  const pid = await vi.waitFor(async () => {
    const building = await client.query(isBuilding)
    expect(building.rows).toHaveLength(1)
    return building.rows[0].pid
  }, 5_000)
  await client.query('SELECT pg_terminate_backend($1)', [pid])
  await expect(killed).rejects.toThrow()
  const isValid = async () =>
    (await client.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('filled_idx')`)).rows
  expect(await isValid()).toEqual([{ indisvalid: false }])
  await reader.query('COMMIT')
  expect(await deployMigrations(url, folder)).toEqual([name])
  expect(await isValid()).toEqual([{ indisvalid: true }])
})

it('builds an index concurrently again after a deadlock with a transaction', async () => {
  await writeFile(
    join(folder, 'migrations', name, 'migration.sql'),
    'CREATE INDEX CONCURRENTLY filled_idx ON things (filled)',
  )
  await client.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''4s''', current_database()); END $$`,
  )
  const writer = await connect()
  await writer.query(`SET deadlock_timeout = '60s'; BEGIN; UPDATE things SET filled = 0 WHERE false`)
  const deploying = deployMigrations(url, folder)
  deploying.catch(() => {})
  await vi.waitFor(async () => expect((await client.query(isBuilding)).rows).toHaveLength(1), 5_000)
  // The build waits for the writer, and now the writer for the build, whose session notices it first.
  await writer.query('LOCK TABLE things IN SHARE UPDATE EXCLUSIVE MODE')
  const invalid = `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('filled_idx')`
  expect((await client.query(invalid)).rows).toEqual([{ indisvalid: false }])
  await writer.query('COMMIT')
  expect(await deploying).toEqual([name])
  expect((await client.query(invalid)).rows).toEqual([{ indisvalid: true }])
})

async function connect(): Promise<pg.Client> {
  const connected = new pg.Client({ connectionString: url })
  await connected.connect()
  clients.push(connected)
  return connected
}

async function writeBackfill(text: string): Promise<void> {
  await mkdir(join(folder, 'migrations', name), { recursive: true })
  await writeFile(join(folder, 'migrations', name, 'migration.sql'), 'SELECT 1')
  await writeFile(join(folder, 'migrations', name, 'backfill.sql'), text)
}

async function filled(value?: number) {
  const text = 'SELECT filled, count(*)::int AS n FROM things WHERE $1::int IS NULL OR filled = $1 GROUP BY filled'
  return (await client.query(text, [value ?? null])).rows
}

// The rows that were read so far; 0 before the first batch.
async function position(): Promise<number> {
  const { rows } = await client.query(`SELECT to_regclass('backfills.progress') IS NOT NULL AS exists`)
  if (!rows[0].exists) return 0
  return Number((await client.query('SELECT rows FROM backfills.progress')).rows[0]?.rows ?? 0)
}
