import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils'
import type { SchemaEngine, SchemaFilter } from '@prisma/schema-engine-wasm/schema_engine_bg'
import { connectEngineAdapter } from './engine-adapter.ts'
import { readSchema } from './migration-folder.ts'
import { loadSchemaEngine } from './schema-engine.ts'
import { connectShadowDatabase } from './shadow-database.ts'

/** Includes every table and enum of the schema `public`. */
export const noExceptions: SchemaFilter = { externalTables: [], externalEnums: [] }

/** Runs the work with a migration engine on the database. Closes its connections and drops its shadow database. */
export async function withEngine<T>(
  databaseUrl: string,
  folder: string,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  const opened: SqlDriverAdapter[] = []
  const keep = (adapter: SqlDriverAdapter) => {
    opened.push(adapter)
    return adapter
  }
  const factory: SqlMigrationAwareDriverAdapterFactory = {
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect: () => connectEngineAdapter(databaseUrl).then(keep),
    connectToShadowDb: () => connectShadowDatabase(databaseUrl).then(keep),
  }
  const schema = await readSchema(folder)
  const datamodels = schema.map(({ path, content }): [string, string] => [path, content])
  const Engine = await loadSchemaEngine()
  try {
    const engine = await Engine.new({ datamodels }, () => {}, bindMigrationAwareSqlAdapterFactory(factory))
    return await work(engine).finally(() => engine.free())
  } catch (error) {
    throw new Error(describeFailure(error), { cause: error })
  } finally {
    for (const adapter of opened) await adapter.dispose()
  }
}

/** Returns one sentence for an error of the engine, which wraps PostgreSQL's message in a stack of its own functions. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [message = ''] = error.message.split(/\n\s+0: /)
  const reason = message.replace('external connector error\n', '').replace('Error querying the database: ERROR: ', '')
  const name = /migration_name="([^"]+)"/.exec(error.message)?.[1]
  return name === undefined ? reason.trim() : `Migration ${name} failed: ${reason.trim()}`
}
