import { join } from 'node:path'
import { type MigrationHistory, readMigrationHistory } from '@belfry/db/migrate/read-history'
import type { Pool } from '@belfry/db/postgres/pool'
import { checkout } from '@belfry/launcher'
import { type Observation, ok, problem, warning } from '../finding.ts'

export function readMigrations(pool: Pool): Promise<MigrationHistory> {
  return readMigrationHistory(pool, join(checkout, 'prisma'))
}

/** Judges the migrations. Pending ones of a stopped `npm start` are applied by its next start. */
export function judgeMigrations(history: MigrationHistory): Observation[] {
  const { pending, unknown, edited } = history
  const found: Observation[] = []
  if (pending.length > 0) {
    const message = `${pending.length} migrations of this version are not applied, first ${pending[0]}.`
    found.push(
      problem(message, 'Run the migrate image or "node prisma/dist/main.mjs deploy"; npm start does it itself.'),
    )
  }
  if (unknown.length > 0) {
    const message = `The database has ${unknown.length} migrations of a later version, last ${unknown.at(-1)}.`
    found.push(warning(message, 'A later Belfry migrated this database. Run the later version.'))
  }
  if (edited.length > 0) {
    const message = `${edited.length} migrations were applied with another text, first ${edited[0]}.`
    found.push(warning(message, 'Another build of Belfry migrated this database. Install a released version.'))
  }
  return found.length > 0 ? found : [ok('all migrations of this version are applied')]
}
