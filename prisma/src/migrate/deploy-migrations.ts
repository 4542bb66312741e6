import pg from 'pg'
import { applyMigration, isConcurrent, type Migration } from './apply-migration.ts'
import { applyDefinitions, type Definition, filesOf, readPendingDefinitions } from './definitions.ts'
import { findMigrationFolder, readMigrationFiles } from './migration-folder.ts'
import { withMigrationLock } from './migration-lock.ts'
import { type LockOptions, transactWithLocks } from './transact-with-locks.ts'

/**
 * Applies every migration, and every function and trigger of prisma/sql, that the database has not seen. Returns their names.
 * Several may run at once: one applies, the others wait for it and return nothing. A migration that fails or is cancelled
 * leaves nothing behind.
 */
export async function deployMigrations(
  databaseUrl: string,
  folder = findMigrationFolder(),
  options: LockOptions = {},
): Promise<string[]> {
  const files = await readMigrationFiles(folder)
  return withMigrationLock(databaseUrl, options.signal, async watcher => {
    await watcher.query(historyTable)
    const applied = await readApplied(watcher)
    const pending = files.filter(({ name }) => !applied.has(name))
    const definitions = await readPendingDefinitions(watcher, folder)
    if (pending.length + definitions.length > 0) await applyAll(databaseUrl, watcher, pending, definitions, options)
    return [...pending.map(({ name }) => name), ...filesOf(definitions)]
  })
}

// On one connection, whose backend then knows the tables of earlier migrations. The last transaction applies the definitions.
async function applyAll(
  databaseUrl: string,
  watcher: pg.Client,
  pending: readonly Migration[],
  definitions: readonly Definition[],
  options: LockOptions,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'belfry-migrate' })
  client.on('error', () => {}) // the statement in flight fails too
  await client.connect()
  try {
    const connections = { client, pid: await readPid(client), watcher }
    const last = pending.findLast(({ script }) => !isConcurrent(script))
    for (const migration of pending) {
      options.signal?.throwIfAborted()
      await applyMigration(connections, migration, migration === last ? definitions : [], options)
    }
    if (last === undefined && definitions.length > 0)
      await transactWithLocks(connections, 'prisma/sql', () => applyDefinitions(client, definitions), options)
  } finally {
    await client.end()
  }
}

async function readPid(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  if (!rows[0]) throw new Error('pg_backend_pid() returned nothing.')
  return rows[0].pid
}

// The table of Prisma, which `check` and `create` read through its engine.
const historyTable = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id varchar(36) PRIMARY KEY NOT NULL,
    checksum varchar(64) NOT NULL,
    finished_at timestamptz,
    migration_name varchar(255) NOT NULL,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz NOT NULL DEFAULT now(),
    applied_steps_count integer NOT NULL DEFAULT 0
  )`

async function readApplied(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ migration_name: string }>(
    'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  )
  return new Set(rows.map(row => row.migration_name))
}
