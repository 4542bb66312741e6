import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findPrimary } from '@belfry/db/postgres/primary-client'
import { findRunningPostgres, startPostgres } from '@belfry/embedded'
import { claimVolume, isImage, PlainError } from '@belfry/launcher'
import type { Installation } from './config.ts'

/** Returns the database of an installation. Starts the embedded PostgreSQL, until its scope ends, while the installation is stopped. */
export async function openDatabase({ env, dataDir }: Installation) {
  const inUse = { async [Symbol.asyncDispose]() {} }
  if (env.DATABASE_URL) return { ...inUse, url: await findPrimary(env.DATABASE_URL), isEmbedded: false }
  if (dataDir === null || !existsSync(join(dataDir, 'postgres/PG_VERSION'))) {
    throw new PlainError('DATABASE_URL is not set, and DATA_DIR is not the data folder of a Belfry that has run.')
  }
  const folder = join(dataDir, 'postgres')
  const running = await findRunningPostgres(folder)
  if (running) return { ...inUse, url: running.url(), isEmbedded: true }
  const release = await claimFolder(dataDir)
  const postgres = await startPostgres({ dataDir: folder, logFile: join(dataDir, 'logs/postgres.log') })
  return { url: postgres.url(), isEmbedded: true, [Symbol.asyncDispose]: () => postgres.stop().finally(release) }
}

/**
 * Claims a data folder that may be the volume of a container: in the image, and after a container has used it.
 * @returns What releases it.
 * @throws PlainError at once when a container uses it: see `claimVolume`.
 */
export async function claimFolder(dataDir: string): Promise<() => void> {
  const socket = join(dataDir, 'running.sock')
  return isImage || existsSync(socket) ? (await claimVolume(socket, 0)).kill : () => {}
}
