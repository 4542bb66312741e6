import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findPrimary } from '@belfry/db/postgres/primary-client'
import { findRunningPostgres, startPostgres } from '@belfry/embedded'
import { PlainError } from '@belfry/launcher'
import type { Installation } from './config.ts'

export type OpenDatabase = {
  url: string
  /** The data folder of the embedded PostgreSQL; null for an external one. */
  embedded: string | null
  /** Whether the embedded PostgreSQL was stopped and runs only until `close`. */
  isTemporary: boolean
  close(): Promise<void>
}

/** Returns the database of an installation. Starts the embedded PostgreSQL while the installation is stopped. */
export async function openDatabase({ env, dataDir }: Installation): Promise<OpenDatabase> {
  if (env.DATABASE_URL) {
    const url = await findPrimary(env.DATABASE_URL)
    return { url, embedded: null, isTemporary: false, close: async () => {} }
  }
  const embedded = dataDir === null ? null : join(dataDir, 'postgres')
  if (embedded === null || !existsSync(join(embedded, 'PG_VERSION'))) {
    throw new PlainError('DATABASE_URL is not set, and DATA_DIR is not the data folder of a Belfry that has run.')
  }
  const running = await findRunningPostgres(embedded)
  if (running) return { url: running.url(), embedded, isTemporary: false, close: async () => {} }
  const postgres = await startPostgres({ dataDir: embedded, logFile: join(dataDir ?? '', 'logs/postgres.log') })
  return { url: postgres.url(), embedded, isTemporary: true, close: () => postgres.stop() }
}
