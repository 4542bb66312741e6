import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEmptyDatabase, createTestDatabase } from '@belfry/test-support'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { findMigrationFolder } from '../src/migrate/migration-folder.ts'

/** The name of a migration after all others. */
export const later = '20990101000000_later'

/** What `checkMigrations` returns when nothing is wrong. */
export const nothingWrong = {
  drift: null,
  missing: null,
  edited: [],
  pending: [],
  replaced: [],
  unknown: [],
}

/** Creates a migrated database, and drops it after the test. */
export async function testDatabase() {
  return open(await createTestDatabase())
}

/** Creates an empty database, and drops it after the test. */
export async function emptyDatabase() {
  return open(await createEmptyDatabase())
}

/** Opens a connection, and closes it after the test. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  return client
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
export async function copyFolder(added: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const original = findMigrationFolder()
  await cp(join(original, 'schema.prisma'), join(folder, 'schema.prisma'))
  for (const name of ['migrations', 'sql']) await cp(join(original, name), join(folder, name), { recursive: true })
  for (const [name, script] of Object.entries(added)) await writeMigration(folder, name, script)
  return folder
}

export async function writeMigration(folder: string, name: string, script: string): Promise<void> {
  await mkdir(join(folder, 'migrations', name), { recursive: true })
  await writeFile(join(folder, 'migrations', name, 'migration.sql'), script)
}

/** Changes a file of prisma/sql, or adds one. */
export async function changeFile(folder: string, name: string, change: (text: string) => string): Promise<void> {
  const path = join(folder, 'sql', name)
  await writeFile(path, change(await readFile(path, 'utf8').catch(() => '')))
}

export async function changeSchema(folder: string, from: string | RegExp, to: string): Promise<void> {
  const path = join(folder, 'schema.prisma')
  const schema = await readFile(path, 'utf8')
  const changed = schema.replace(from, to)
  if (changed === schema) throw new Error(`The schema has no ${from}.`)
  await writeFile(path, changed)
}
