import { join } from 'node:path'
import { findPrimary } from '@belfry/db/postgres/primary-client'
import { startPostgres } from '@belfry/embedded'
import { PlainError } from '@belfry/launcher'
import { databaseFile } from '../backup/make-backup.ts'
import { checkFiles, type Manifest, readManifest } from '../backup/manifest.ts'
import type { Installation } from '../config.ts'
import { requireTool, runTool } from '../postgres-tools.ts'
import { inTemporaryDatabase } from '../temporary-database.ts'
import { checkRestored, type Verification } from './check-restored.ts'
import { unpackCluster } from './unpack-cluster.ts'

/**
 * Restores a backup into a temporary PostgreSQL, or into a temporary database for a dump, checks it, and removes it again.
 * The installation is not touched.
 */
export async function drill({ env }: Installation, backup: string, work: string): Promise<Verification> {
  const manifest = await readManifest(backup)
  await checkFiles(backup, manifest)
  const check = (url: string) => checkRestored(url, manifest, env.ENCRYPTION_KEYS || undefined)
  return manifest.kind === 'files'
    ? drillFiles(backup, manifest, join(work, 'cluster'), check)
    : drillDump(backup, manifest, env.DATABASE_URL, check)
}

type Check = (url: string) => Promise<Verification>

async function drillFiles(backup: string, manifest: Manifest, dataDir: string, check: Check) {
  await unpackCluster(backup, manifest, dataDir)
  const postgres = await startPostgres({ dataDir })
  try {
    return await check(postgres.url())
  } finally {
    await postgres.stop()
  }
}

async function drillDump(backup: string, manifest: Manifest, databaseUrl: string | undefined, check: Check) {
  if (!databaseUrl)
    throw new PlainError('The drill of a dump needs DATABASE_URL: it creates a database on that server.')
  requireTool('pg_restore', Number(manifest.postgres.split('.')[0]))
  const serverUrl = await findPrimary(databaseUrl)
  return inTemporaryDatabase(serverUrl, 'belfry_drill', async url => {
    await restoreDump(url, backup)
    return check(url)
  })
}

/** Restores a dump into an empty database. The owner of the database owns all restored tables. */
export function restoreDump(databaseUrl: string, backup: string): Promise<void> {
  const file = join(backup, databaseFile.dump)
  return runTool('pg_restore', databaseUrl, ['--no-owner', '--no-privileges', '--exit-on-error', file])
}
