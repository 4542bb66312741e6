import { existsSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { withClient } from '@belfry/db/postgres/with-client'
import { version } from '@belfry/domain/version'
import { PlainError } from '@belfry/launcher'
import type pg from 'pg'
import type { BackupSettings, Installation } from '../config.ts'
import { openDatabase } from '../open-database.ts'
import { runTool } from '../postgres-tools.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { copyCluster } from './base-backup.ts'
import { countedTables, describeFile, type Manifest, manifestName } from './manifest.ts'
import { openStore } from './open-store.ts'

/** The database in a backup, by its kind. */
export const databaseFile = { files: 'cluster.tar.gz', dump: 'database.dump' } as const

/**
 * Makes a consistent backup while the installation runs, and stores it. The embedded PostgreSQL is copied with its log;
 * another one is dumped by pg_dump.
 * @param withSecrets - Also copies the keys of the data folder. Default of the callers: no, because they open what the
 * database encrypts.
 */
export async function makeBackup(installation: Installation, settings: BackupSettings, withSecrets: boolean) {
  const { dataDir } = installation
  const now = new Date()
  if (withSecrets && dataDir === null) {
    throw new PlainError('--with-secrets copies the data folder of npm start. Keep the variables of services yourself.')
  }
  const name = `belfry-${now.toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '')}`
  const work = join(await workPlace(settings), '.belfry-backup-')
  await using database = await openDatabase(installation)
  await using parent = await temporaryFolder(work)
  const folder = join(parent.path, name)
  await mkdir(folder, { mode: 0o700 })
  const described = await withClient({ connectionString: database.url, application_name: 'belfry-backup' }, client =>
    database.isEmbedded ? copy(client, database.url, folder) : dump(client, database.url, folder),
  )
  const secrets = withSecrets && dataDir !== null ? await copySecrets(dataDir, folder) : []
  const names = [databaseFile[described.kind], ...secrets]
  const files = await Promise.all(names.map(file => describeFile(folder, file)))
  const hasSecrets = secrets.length > 0
  const manifest: Manifest = { format: 1, createdAt: now.toISOString(), version, ...described, hasSecrets, files }
  await writeFile(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
  const store = openStore(settings)
  await store.put(folder)
  return { name, store, manifest }
}

// In the folder itself: it needs room for the backup anyway, and the backup is moved into it.
async function workPlace({ folder }: BackupSettings): Promise<string> {
  if (folder.startsWith('s3://')) return tmpdir()
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return folder
}

type Described = Pick<Manifest, 'kind' | 'migration' | 'postgres' | 'rows'>

async function copy(client: pg.Client, url: string, folder: string): Promise<Described> {
  const described = await describe(client)
  await copyCluster(url, join(folder, databaseFile.files))
  return { kind: 'files', ...described }
}

// The dump and the counts are of the same snapshot.
async function dump(client: pg.Client, url: string, folder: string): Promise<Described> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const described = await describe(client)
  const exported = await client.query<{ id: string }>('SELECT pg_export_snapshot() AS id')
  const file = join(folder, databaseFile.dump)
  // Unlogged tables hold the processes of the moment.
  const what = ['--format=custom', '--no-unlogged-table-data', `--snapshot=${exported.rows[0]?.id}`]
  await runTool('pg_dump', described.postgres, url, [...what, `--file=${file}`])
  return { kind: 'dump', ...described }
}

async function describe(client: pg.Client): Promise<Omit<Described, 'kind'>> {
  const { rows } = await client.query<{ postgres: string; migration: string | null }>(`
    SELECT current_setting('server_version') AS postgres,
           (SELECT max(migration_name) FROM _prisma_migrations WHERE finished_at IS NOT NULL) AS migration`)
  const [{ postgres, migration } = { postgres: '', migration: null }] = rows
  if (migration === null) throw new PlainError('This database has no tables of Belfry yet.')
  return { postgres: postgres.split(' ')[0] ?? '', migration, rows: await countRows(client) }
}

export async function countRows(db: Db): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of countedTables) {
    const { rows } = await db.query<{ count: string }>(`SELECT count(*) AS count FROM ${table}`)
    counts[table] = Number(rows[0]?.count)
  }
  return counts
}

/** Copies the files of a data folder that hold secrets, and returns their names. */
export async function copySecrets(from: string, to: string): Promise<string[]> {
  const present = ['secrets.json', 'account.json'].filter(name => existsSync(join(from, name)))
  for (const name of present) await copyFile(join(from, name), join(to, name))
  return present
}
