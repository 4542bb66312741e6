import type pg from 'pg'
import { applyMigration } from './apply-migration.ts'
import { findMigrationFolder, readMigrationFiles } from './migration-folder.ts'
import { withMigrationLock } from './migration-lock.ts'
import { forgetRolledBack } from './settle-migration.ts'
import type { LockOptions } from './transact-with-locks.ts'

/**
 * Applies every migration that the database has not seen and returns their names. Several may run at once: one applies,
 * the others wait for it and return nothing. A migration that fails or is cancelled leaves nothing behind.
 */
export async function deployMigrations(
  databaseUrl: string,
  folder = findMigrationFolder(),
  options: LockOptions = {},
): Promise<string[]> {
  const files = await readMigrationFiles(folder)
  return withMigrationLock(databaseUrl, options.signal, async client => {
    await client.query(historyTable)
    await forgetRolledBack(client)
    const applied = await readApplied(client)
    const pending = files.filter(({ name }) => !applied.has(name))
    for (const migration of pending) {
      options.signal?.throwIfAborted()
      await applyMigration(databaseUrl, client, migration, options)
    }
    return pending.map(({ name }) => name)
  })
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
