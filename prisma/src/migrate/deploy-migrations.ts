import { findMigrationFolder, readMigrations } from './migration-folder.ts'
import { withMigrationLock } from './migration-lock.ts'
import { settleFailedMigrations } from './settle-failed-migrations.ts'
import { noExceptions, withEngine } from './with-engine.ts'

/**
 * Applies every migration that the database has not seen and returns their names. Several may run at once: one applies,
 * the others wait for it and return nothing. A migration that fails is rolled back and tried again by the next call.
 */
export async function deployMigrations(databaseUrl: string, folder = findMigrationFolder()): Promise<string[]> {
  const migrationsList = await readMigrations(folder)
  return withMigrationLock(databaseUrl, async client => {
    await settleFailedMigrations(client)
    const { appliedMigrationNames } = await withEngine(databaseUrl, folder, engine =>
      engine.applyMigrations({ migrationsList, filters: noExceptions }),
    )
    return appliedMigrationNames
  })
}
