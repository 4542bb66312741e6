import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { findPrimary } from '@belfry/db/postgres/primary-client'
import { startPostgres, stopLeftoverPostgres } from '@belfry/embedded'
import { PlainError, readJson, startCommand, takeLock } from '@belfry/launcher'
import { copySecrets } from '../backup/make-backup.ts'
import { checkFiles, type Manifest, readManifest } from '../backup/manifest.ts'
import type { Installation } from '../config.ts'
import { migrate } from '../migrate.ts'
import { claimFolder } from '../open-database.ts'
import { runStatement } from '../temporary-database.ts'
import { checkRestored } from './check-restored.ts'
import { restoreDump } from './drill.ts'
import { unpackCluster } from './unpack-cluster.ts'

/** The flags of the command `restore`. */
export type RestoreOptions = { until?: string; hold: boolean; withoutSecrets?: boolean }

type Print = (line: string) => void

/** A backup on its way into an installation. */
type Restore = { installation: Installation; backup: string; manifest: Manifest; options: RestoreOptions; print: Print }

/**
 * Restores a backup for good, applies missing migrations, holds the tasks that may have been delivered since, and checks
 * the result.
 */
export async function restore(
  installation: Installation,
  backup: string,
  options: RestoreOptions,
  print: Print,
): Promise<void> {
  const manifest = await readManifest(backup)
  await checkFiles(backup, manifest)
  print(`the backup is of ${manifest.createdAt}, by Belfry ${manifest.version}; its checksums match`)
  const restored = { installation, backup, manifest, options, print }
  await (manifest.kind === 'dump' ? restoreDatabase(restored) : restoreFolder(restored))
}

async function restoreDatabase(restored: Restore): Promise<void> {
  const { installation, backup, manifest, print } = restored
  const { env } = installation
  if (!env.DATABASE_URL)
    throw new PlainError('This backup is a dump. Set DATABASE_URL to an empty database of your own PostgreSQL.')
  const url = await findPrimary(env.DATABASE_URL)
  await requireEmpty(url)
  await restoreDump(url, backup, manifest)
  await finish(restored, url, env.ENCRYPTION_KEYS || undefined)
  print(
    'start the services, review the held tasks, then run belfry release-held; run grant-roles again if you use service roles',
  )
}

async function requireEmpty(url: string): Promise<void> {
  const found = await runStatement(url, `SELECT 1 FROM pg_tables WHERE schemaname = 'public' LIMIT 1`)
  if (found !== undefined) {
    throw new PlainError(
      'The database of DATABASE_URL has tables. Stop the services, rename it, and create an empty one of its name.',
    )
  }
}

async function restoreFolder(restored: Restore): Promise<void> {
  const { installation, backup, manifest, print } = restored
  const { wantedDataDir: dataDir, env } = installation
  if (env.DATABASE_URL) {
    throw new PlainError('This backup has the files of npm start. Unset DATABASE_URL: it is restored into DATA_DIR.')
  }
  await mkdir(join(dataDir, 'logs'), { recursive: true, mode: 0o700 })
  const release = await claimFolder(dataDir)
  const lock = takeLock(join(dataDir, 'run.json'), 'http://localhost')
  if ('holder' in lock) throw new PlainError(`Belfry runs on ${dataDir} (process ${lock.holder.pid}). Stop it first.`)
  const place = join(dataDir, 'postgres')
  const draft = `${place}.restored`
  try {
    // Of a killed launcher, or of an interrupted restore: this process has the lock.
    for (const folder of [place, draft]) await stopLeftoverPostgres(folder)
    await restoreSecrets(dataDir, restored)
    await rm(draft, { recursive: true, force: true })
    await unpackCluster(backup, manifest, draft)
    const postgres = await startPostgres({ dataDir: draft, logFile: join(dataDir, 'logs/postgres.log') })
    try {
      await finish(restored, postgres.url(), readKeys(dataDir, env))
    } finally {
      await postgres.stop()
    }
    const aside = await replace(place, draft)
    if (aside !== null) print(`the previous data is in ${aside}; delete it when you no longer need it`)
    print(`start it: ${startCommand}; then review the held tasks and run belfry release-held`)
  } finally {
    lock.release()
    release()
  }
}

// The next start would create new keys in a folder without keys, and the stored secrets would be unreadable.
async function restoreSecrets(dataDir: string, { backup, manifest, options }: Restore): Promise<void> {
  if (existsSync(join(dataDir, 'secrets.json'))) return
  if (manifest.hasSecrets) return void (await copySecrets(backup, dataDir))
  if (options.withoutSecrets) return
  throw new PlainError(
    `${dataDir} has no secrets.json, and neither has the backup. Copy the file of the lost installation there. ` +
      `Without it ${manifest.rows.secrets ?? 0} stored secrets and all signing secrets are lost: --without-secrets accepts that.`,
  )
}

async function replace(place: string, draft: string): Promise<string | null> {
  const aside = `${place}.before-${new Date().toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '')}`
  const exists = existsSync(place)
  if (exists) await rename(place, aside)
  await rename(draft, place)
  return exists ? aside : null
}

function readKeys(dataDir: string, env: Installation['env']): string | undefined {
  const secrets = readJson(join(dataDir, 'secrets.json')) as { ENCRYPTION_KEYS?: string } | undefined
  return env.ENCRYPTION_KEYS || secrets?.ENCRYPTION_KEYS
}

// An interrupted check must not leave a dump in place whose tasks are not held.
async function finish({ manifest, options, print }: Restore, url: string, keys: string | undefined): Promise<void> {
  print(await migrate(url, ['deploy']))
  const { until, hold } = options
  if (hold) print(await migrate(url, ['hold-overdue', ...(until === undefined ? [] : ['--until', until])]))
  const { problems, notes } = await checkRestored(url, manifest, keys)
  for (const line of [...notes, ...problems]) print(line)
  if (problems.length > 0) throw new PlainError('The restored database is not what the backup describes.')
}
