import type { DiffTarget, HistoryDiagnostic, SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'
import { filesOf, readPendingDefinitions, readReplacedFiles } from './definitions.ts'
import { findMigrationFolder, readMigrations, readSchema } from './migration-folder.ts'
import { noExceptions, withEngine } from './with-engine.ts'

export type MigrationCheck = {
  /** The SQL that would bring the database to the schema; null when they agree. */
  drift: string | null
  /** The SQL that the migrations lack to reach the schema; null when they agree. */
  missing: string | null
  /** Migrations whose file was changed after it had been applied. */
  edited: string[]
  /** Migrations that failed, or were interrupted, and have not been applied since. */
  failed: string[]
  /** Migrations and files of prisma/sql that the database has not seen. */
  pending: string[]
  /** Files of prisma/sql of which a later version has replaced a function or a trigger. */
  replaced: string[]
  /** Migrations that the database has seen and that have no file. */
  unknown: string[]
}

/** Compares the schema with the database, and with a replay of the migrations in a shadow database. */
export async function checkMigrations(databaseUrl: string, folder = findMigrationFolder()): Promise<MigrationCheck> {
  const files = await readSchema(folder)
  const migrationsList = await readMigrations(folder)
  const { pendingFiles, replaced } = await compareDefinitions(databaseUrl, folder)
  return withEngine(databaseUrl, folder, async engine => {
    const diagnosis = await engine.diagnoseMigrationHistory({
      migrationsList,
      optInToShadowDatabase: false,
      filters: noExceptions,
    })
    const schema: DiffTarget = { tag: 'schemaDatamodel', files }
    const { pending, unknown } = compareHistories(diagnosis.history)
    return {
      drift: await diff(engine, { tag: 'schemaDatasource', files, configDir: folder }, schema),
      missing: await diff(engine, { tag: 'migrations', ...migrationsList }, schema),
      edited: diagnosis.editedMigrationNames,
      failed: diagnosis.failedMigrationNames,
      pending: [...pending, ...pendingFiles],
      replaced,
      unknown,
    }
  })
}

/** Returns one paragraph for each problem. */
export function describeCheck(check: MigrationCheck): string[] {
  return [
    ...check.failed.map(name => `Migration ${name} failed and has not been applied since.`),
    ...check.pending.map(name => `${name} is not applied.`),
    ...check.replaced.map(name => `Another version has replaced definitions of ${name}.`),
    ...check.edited.map(name => `Migration ${name} was edited after it had been applied.`),
    ...check.unknown.map(name => `Migration ${name} is applied but has no file.`),
    ...describeSql('The database differs from schema.prisma. This SQL would update it:', check.drift),
    ...describeSql('The migrations do not lead to schema.prisma. They lack:', check.missing),
  ]
}

async function compareDefinitions(
  databaseUrl: string,
  folder: string,
): Promise<{ pendingFiles: string[]; replaced: string[] }> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const pendingFiles = filesOf(await readPendingDefinitions(client, folder))
    return { pendingFiles, replaced: await readReplacedFiles(client, folder) }
  } finally {
    await client.end()
  }
}

function describeSql(title: string, sql: string | null): string[] {
  return sql === null ? [] : [`${title}\n\n${sql.trim()}\n`]
}

async function diff(engine: SchemaEngine, from: DiffTarget, to: DiffTarget): Promise<string | null> {
  const { exitCode, stdout } = await engine.diff({ from, to, script: true, exitCode: true, filters: noExceptions })
  return exitCode === 0 ? null : (stdout ?? '')
}

function compareHistories(history: HistoryDiagnostic | null): Pick<MigrationCheck, 'pending' | 'unknown'> {
  switch (history?.diagnostic) {
    case undefined:
      return { pending: [], unknown: [] }
    case 'databaseIsBehind':
      return { pending: history.unappliedMigrationNames, unknown: [] }
    case 'migrationsDirectoryIsBehind':
      return { pending: [], unknown: history.unpersistedMigrationNames }
    case 'historiesDiverge':
      return { pending: history.unappliedMigrationNames, unknown: history.unpersistedMigrationNames }
  }
}
