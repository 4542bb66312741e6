import type { DiffTarget, SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg'
import { findMigrationFolder } from '../src/migrate/migration-folder.ts'
import { type MigrationHistory, readMigrationHistory } from '../src/migrate/read-history.ts'
import { withClient } from '../src/postgres/with-client.ts'
import { noExceptions, readMigrations, readSchema, withEngine } from './with-engine.ts'

export type MigrationCheck = MigrationHistory & {
  /** The SQL that would bring the database to the schema; null when they agree. */
  drift: string | null
  /** The SQL that the migrations lack to reach the schema; null when they agree. */
  missing: string | null
}

/** Compares the schema with the database, and with a replay of the migrations in a shadow database. */
export async function checkMigrations(databaseUrl: string, folder = findMigrationFolder()): Promise<MigrationCheck> {
  const files = await readSchema(folder)
  const migrations = await readMigrations(folder)
  const history = await withClient({ connectionString: databaseUrl }, client => readMigrationHistory(client, folder))
  return withEngine(databaseUrl, folder, async engine => {
    const schema: DiffTarget = { tag: 'schemaDatamodel', files }
    return {
      ...history,
      drift: await diff(engine, { tag: 'schemaDatasource', files, configDir: folder }, schema),
      missing: await diff(engine, { tag: 'migrations', ...migrations }, schema),
    }
  })
}

/** Returns one paragraph for each problem. */
export function describeCheck(check: MigrationCheck): string[] {
  return [
    ...check.pending.map(name => `${name} is not applied.`),
    ...check.replaced.map(name => `Another version has replaced definitions of ${name}.`),
    ...check.edited.map(name => `Migration ${name} was edited after it had been applied.`),
    ...check.unknown.map(name => `Migration ${name} is applied but has no file.`),
    ...describeSql('The database differs from schema.prisma. This SQL would update it:', check.drift),
    ...describeSql('The migrations do not lead to schema.prisma. They lack:', check.missing),
  ]
}

function describeSql(title: string, sql: string | null): string[] {
  return sql === null ? [] : [`${title}\n\n${sql.trim()}\n`]
}

async function diff(engine: SchemaEngine, from: DiffTarget, to: DiffTarget): Promise<string | null> {
  const { exitCode, stdout } = await engine.diff({ from, to, script: true, exitCode: true, filters: noExceptions })
  return exitCode === 0 ? null : (stdout ?? '')
}
