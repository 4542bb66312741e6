import { randomUUID } from 'node:crypto'
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils'
import { connectEngineAdapter } from './engine-adapter.ts'

/** Creates an empty database on the same server, and connects to it. Disposing of the adapter drops the database. */
export async function connectShadowDatabase(databaseUrl: string): Promise<SqlDriverAdapter> {
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
