import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { findMigrationFolder, readMigrations } from './migration-folder.ts'

const pauseMs = 1000
const patienceMs = 600_000

/**
 * Resolves once somebody has applied every migration of this version to the database; rejects after ten minutes. It
 * changes nothing, and does not mind migrations of a later version.
 * @param onWait - Told of the migrations that are missing, whenever there are fewer.
 */
export async function waitForMigrations(
  databaseUrl: string,
  onWait: (missing: string[]) => void,
  folder = findMigrationFolder(),
): Promise<void> {
  const { migrationDirectories } = await readMigrations(folder)
  const names = migrationDirectories.map(({ path }) => path)
  const giveUpAt = performance.now() + patienceMs
  for (let known = Number.POSITIVE_INFINITY; ; await sleep(pauseMs)) {
    const missing = await withoutApplied(databaseUrl, names)
    if (missing.length === 0) return
    if (performance.now() > giveUpAt) throw new Error(`Nobody has applied these migrations: ${missing.join(', ')}.`)
    if (missing.length < known) onWait(missing)
    known = missing.length
  }
}

async function withoutApplied(databaseUrl: string, names: string[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const applied = await client.query<{ migration_name: string }>(
      'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
    )
    const seen = new Set(applied.rows.map(row => row.migration_name))
    return names.filter(name => !seen.has(name))
  } catch (error) {
    // No migration has ever run here.
    if (error instanceof pg.DatabaseError && error.code === '42P01') return names
    throw error
  } finally {
    await client.end()
  }
}
