import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findMigrationFolder } from '../src/migrate/migration-folder.ts'
import { noExceptions, readMigrations, readSchema, withEngine } from './with-engine.ts'

/**
 * Writes a migration from the current migrations to the schema. Returns its path, or null when they agree. Does not apply
 * it, because it needs a review first.
 */
export async function createMigration(
  databaseUrl: string,
  name: string,
  folder = findMigrationFolder(),
): Promise<string | null> {
  const migrationName = normalizeMigrationName(name)
  const migrationsList = await readMigrations(folder)
  const schema = { files: await readSchema(folder) }
  const created = await withEngine(databaseUrl, folder, async engine => {
    // Also opens the shadow database, without which the engine refuses to create anything.
    const { action } = await engine.devDiagnostic({ migrationsList, filters: noExceptions })
    if (action.tag === 'reset') throw new Error(action.reason)
    return engine.createMigration({ draft: false, migrationName, migrationsList, schema, filters: noExceptions })
  })
  if (created.migrationScript === null) return null
  const path = join(migrationsList.baseDir, created.generatedMigrationName, 'migration.sql')
  await mkdir(join(path, '..'))
  await writeFile(path, withoutTransactions(created.migrationScript))
  return path
}

// The engine wraps the change of an enum in BEGIN and COMMIT. A file is one transaction: COMMIT would end it too early.
function withoutTransactions(script: string): string {
  return script.replace(/^(BEGIN|COMMIT);\n/gm, '')
}

/** Returns the suffix of a migration's folder for a name as typed: `Add due-at` becomes `add_due_at`. */
export function normalizeMigrationName(name: string): string {
  const normalized = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  if (normalized === '') throw new Error('The name of a migration needs at least one letter or digit.')
  return normalized
}
