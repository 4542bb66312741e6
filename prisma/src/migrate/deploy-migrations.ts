import { applyMigration, isConcurrent } from './apply-migration.ts'
import { applyDefinitions, compareDefinitions, filesOf } from './definitions.ts'
import { findMigrationFolder, readMigrationFiles } from './migration-folder.ts'
import { withMigrationLock } from './migration-lock.ts'
import { readApplied } from './read-history.ts'
import { type LockOptions, transactWithLocks } from './transact-with-locks.ts'

/**
 * Applies every migration, and every function and trigger of prisma/sql, that is not in force, and returns their names.
 * Functions and triggers of a later version stay. Several may run at once: one applies, the others wait for it and
 * return an empty list. A migration that fails or is cancelled is rolled back.
 */
export async function deployMigrations(databaseUrl: string, folder = findMigrationFolder(), options: LockOptions = {}) {
  const files = await readMigrationFiles(folder)
  return withMigrationLock(databaseUrl, options.signal, async connections => {
    const { client } = connections
    await client.query(historyTable)
    const applied = await readApplied(client)
    const pending = files.filter(({ name }) => !applied.has(name))
    const { pending: definitions } = await compareDefinitions(client, folder)
    // On one connection, whose backend then knows the tables of earlier migrations. The last transaction applies the
    // definitions.
    const last = pending.findLast(({ script }) => !isConcurrent(script))
    for (const migration of pending) {
      options.signal?.throwIfAborted()
      await applyMigration(connections, migration, migration === last ? definitions : [], options)
    }
    if (last === undefined && definitions.length > 0)
      await transactWithLocks(connections, 'prisma/sql', () => applyDefinitions(client, definitions), options)
    return [...pending.map(({ name }) => name), ...filesOf(definitions)]
  })
}

// The table that Prisma's migration engine reads.
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
