import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { filesOf, readDefinitions, readPendingDefinitions } from './definitions.ts'
import { findMigrationFolder, readMigrations } from './migration-folder.ts'

const pauseMs = 1000
const maxWaitMs = 600_000

/**
 * Waits until another process has applied every migration of this version, and its functions and triggers. Rejects after ten
 * minutes. Changes nothing, and ignores migrations of a later version.
 * @param onWait - Receives the missing migrations at first, and whenever there are fewer.
 */
export async function waitForMigrations(
  databaseUrl: string,
  onWait: (missing: string[]) => void,
  folder = findMigrationFolder(),
): Promise<void> {
  const { migrationDirectories } = await readMigrations(folder)
  const names = migrationDirectories.map(({ path }) => path)
  const giveUpAt = performance.now() + maxWaitMs
  for (let known = Number.POSITIVE_INFINITY; ; await sleep(pauseMs)) {
    const missing = await withoutApplied(databaseUrl, names, folder)
    if (missing.length === 0) return
    if (performance.now() > giveUpAt)
      throw new Error(`These migrations were not applied within ten minutes: ${missing.join(', ')}.`)
    if (missing.length < known) onWait(missing)
    known = missing.length
  }
}

/** True while no migration has ever run in the database, and until `deploy` has created the role and granted its rights. */
export function isBeforeMigration(error: unknown): boolean {
  return error instanceof pg.DatabaseError && ['42P01', '28000', '28P01', '42501'].includes(error.code ?? '')
}

async function withoutApplied(databaseUrl: string, names: string[], folder: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  try {
    await client.connect()
    const applied = await client.query<{ migration_name: string }>(
      'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
    )
    const seen = new Set(applied.rows.map(row => row.migration_name))
    return [...names.filter(name => !seen.has(name)), ...filesOf(await readPendingDefinitions(client, folder))]
  } catch (error) {
    if (isBeforeMigration(error)) return [...names, ...filesOf(await readDefinitions(folder))]
    throw error
  } finally {
    await client.end()
  }
}
