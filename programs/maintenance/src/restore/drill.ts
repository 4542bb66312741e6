import { join } from 'node:path'
import { findPrimary } from '@belfry/db/postgres/primary-client'
import { startPostgres } from '@belfry/embedded'
import { PlainError } from '@belfry/launcher'
import { databaseFile } from '../backup/make-backup.ts'
import { checkFiles, type Manifest, readManifest } from '../backup/manifest.ts'
import type { Installation } from '../config.ts'
import { runTool } from '../postgres-tools.ts'
import { temporaryDatabase } from '../temporary-database.ts'
import { checkRestored } from './check-restored.ts'
import { unpackCluster } from './unpack-cluster.ts'

/**
 * Restores a backup into a temporary PostgreSQL, or into a temporary database for a dump, checks it, and removes it again.
 * The installation is not touched.
 */
export async function drill({ env }: Installation, backup: string, work: string) {
  const manifest = await readManifest(backup)
  await checkFiles(backup, manifest)
  const keys = env.ENCRYPTION_KEYS || undefined
  if (manifest.kind === 'files') {
    const dataDir = join(work, 'cluster')
    await unpackCluster(backup, manifest, dataDir)
    await using postgres = await startPostgres({ dataDir })
    return await checkRestored(postgres.url(), manifest, keys)
  }
  if (!env.DATABASE_URL)
    throw new PlainError('The drill of a dump needs DATABASE_URL: it creates a database on that server.')
  await using database = await temporaryDatabase(await findPrimary(env.DATABASE_URL), 'belfry_drill')
  await restoreDump(database.url, backup, manifest)
  return await checkRestored(database.url, manifest, keys)
}

/** Restores a dump into an empty database. The owner of the database owns all restored tables. */
export function restoreDump(databaseUrl: string, backup: string, { postgres }: Manifest): Promise<void> {
  const file = join(backup, databaseFile.dump)
  return runTool('pg_restore', postgres, databaseUrl, ['--no-owner', '--no-privileges', '--exit-on-error', file])
}
