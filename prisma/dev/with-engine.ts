import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils'
import type {
  MigrationList,
  SchemaContainer,
  SchemaEngine,
  SchemaFilter,
} from '@prisma/schema-engine-wasm/schema_engine_bg'
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg'
import { readMigrationFiles } from '../src/migrate/migration-folder.ts'
import { connectEngineAdapter } from './engine-adapter.ts'

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

/** Reads the schema for the engine. */
export async function readSchema(folder: string): Promise<SchemaContainer[]> {
  const path = join(folder, 'schema.prisma')
  return [{ path, content: await readFile(path, 'utf8') }]
}

/** Reads the migrations for the engine. */
export async function readMigrations(folder: string): Promise<MigrationList> {
  const baseDir = join(folder, 'migrations')
  return {
    baseDir,
    lockfile: { path: 'migration_lock.toml', content: await readFile(join(baseDir, 'migration_lock.toml'), 'utf8') },
    shadowDbInitScript: '',
    migrationDirectories: (await readMigrationFiles(folder)).map(({ name, script }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: script } },
    })),
  }
}

/** Returns one sentence for an error of the engine: the engine wraps PostgreSQL's message in a stack trace. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [message = ''] = error.message.split(/\n\s+0: /)
  const reason = message.replace('external connector error\n', '').replace('Error querying the database: ERROR: ', '')
  const name = /migration_name="([^"]+)"/.exec(error.message)?.[1]
  return name === undefined ? reason.trim() : `Migration ${name} failed: ${reason.trim()}`
}

/** Creates an empty database on the same server, and connects to it. Disposing of the adapter drops the database. */
async function connectShadowDatabase(databaseUrl: string): Promise<SqlDriverAdapter> {
  const name = `belfry_shadow_${randomUUID()}`
  await execute(databaseUrl, `CREATE DATABASE "${name}" TEMPLATE template0`)
  // Prisma's own function keeps the database name in the URL, so it would replay the migrations in the main database.
  const url = new URL(databaseUrl)
  url.pathname = name
  const adapter = await connectEngineAdapter(url.href)
  let dropped: Promise<void> | undefined
  return {
    ...adapter,
    dispose() {
      dropped ??= adapter.dispose().then(() => execute(databaseUrl, `DROP DATABASE "${name}" WITH (FORCE)`))
      return dropped
    },
  }
}

async function execute(databaseUrl: string, statement: string): Promise<void> {
  const adapter = await connectEngineAdapter(databaseUrl)
  await adapter.executeScript(statement).finally(() => adapter.dispose())
}

let loaded: Promise<typeof glue.SchemaEngine> | undefined

/** Loads Prisma's migration engine on first use. The entry of its package needs a bundler that imports WASM. */
function loadSchemaEngine(): Promise<typeof glue.SchemaEngine> {
  loaded ??= instantiate()
  return loaded
}

async function instantiate(): Promise<typeof glue.SchemaEngine> {
  const script = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const module = await WebAssembly.compile(await readFile(script.replace(/\.js$/, '.wasm')))
  const { exports } = await WebAssembly.instantiate(module, { './schema_engine_bg.js': hostFunctions() })
  glue.__wbg_set_wasm(exports)
  if (typeof exports.__wbindgen_start === 'function') exports.__wbindgen_start()
  return glue.SchemaEngine
}

// The engine never clears the timer of its lock. Without unref() it would keep the process alive for ten seconds.
function hostFunctions(): WebAssembly.ModuleImports {
  const setIdleTimeout = (callback: () => void, ms: number) => setTimeout(callback, ms >>> 0).unref()
  const named = Object.entries<WebAssembly.ImportValue>(glue)
  return Object.fromEntries(
    named.map(([name, host]) => [name, name.startsWith('__wbg_setTimeout') ? setIdleTimeout : host]),
  )
}
