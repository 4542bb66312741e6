import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Postgres, startPostgres } from '@belfry/embedded'
import pg from 'pg'

/** A PostgreSQL with a migrated database. */
export type Database = { url: string; stop(): Promise<void> }

// This data does not outlive the server. New statistics in the middle of a move made its statements 30 times slower.
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '100',
}

/**
 * Starts a PostgreSQL. The first one creates and migrates its database, and keeps that when it stops. Later ones use copies.
 * @param root - The checkout, or the folder of the package with the same programs.
 * @param cache - The folder for the kept data.
 */
export async function startDatabase(root: string, folder: string, cache: string): Promise<Database> {
  const dataDir = join(folder, 'postgres')
  const kept = join(cache, `postgres-${hashFiles(join(root, 'prisma'), ['migrations', 'sql'])}`)
  if (!existsSync(kept)) return startFirst(root, dataDir, kept)
  cpSync(kept, dataDir, { recursive: true })
  const postgres = await startPostgres({ dataDir, settings })
  return { url: postgres.url(), stop: postgres.stop }
}

// The database that is kept is migrated when the server stops, because then no test waits for it.
async function startFirst(root: string, dataDir: string, kept: string): Promise<Database> {
  const postgres = await startPostgres({ dataDir, settings })
  const url = postgres.url()
  await migrate(root, url)
  return {
    url,
    async stop() {
      if (existsSync(kept)) return postgres.stop()
      await replaceDatabase(postgres)
        .then(() => migrate(root, url))
        .finally(postgres.stop)
      if (!existsSync(kept)) renameSync(dataDir, kept)
    },
  }
}

async function migrate(root: string, databaseUrl: string): Promise<void> {
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
  await promisify(execFile)(process.execPath, [join(root, 'prisma/dist/main.mjs'), 'deploy'], { env })
}

async function replaceDatabase(postgres: Postgres): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url('template1') })
  await client.connect()
  try {
    await client.query('DROP DATABASE postgres WITH (FORCE)')
    await client.query('CREATE DATABASE postgres')
  } finally {
    await client.end()
  }
}

function hashFiles(root: string, folders: string[]): string {
  const hash = createHash('sha256')
  const files = folders.flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.sql'))
      .map(name => join(folder, name)),
  )
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex').slice(0, 16)
}
