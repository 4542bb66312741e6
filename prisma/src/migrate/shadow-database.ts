import { randomUUID } from 'node:crypto'
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils'
import { connectEngineAdapter } from './engine-adapter.ts'

/** Creates an empty database beside the given one and connects to it; disposing of the adapter drops it. */
export async function connectShadowDatabase(databaseUrl: string): Promise<SqlDriverAdapter> {
  const name = `belfry_shadow_${randomUUID()}`
  await execute(databaseUrl, `CREATE DATABASE "${name}" TEMPLATE template0`)
  // Prisma's leaves the name in the URL as it is, and so replays the migrations in the main database.
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
