import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Postgres, startPostgres } from '@belfry/embedded'
import pg from 'pg'

const run = promisify(execFile)

/**
 * Copies the files of a running PostgreSQL between the start and the stop of its backup mode, as pg_basebackup does. The
 * binaries of the tests do not include pg_basebackup.
 */
export async function backUp(postgres: Pick<Postgres, 'url'>, dataDir: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url() })
  await client.connect()
  try {
    await client.query(`SELECT pg_backup_start('drill', true)`)
    await mkdir(to, { recursive: true })
    // Files change while they are copied, and some disappear; the log has the missing changes.
    await run('cp', ['--archive', `${dataDir}/.`, to]).catch(() => {})
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
    await run('cp', ['--archive', join(dataDir, 'pg_wal'), to])
    await writeFile(join(to, 'backup_label'), rows[0]?.labelfile ?? '')
    await rm(join(to, 'postmaster.pid'), { force: true })
    await run('chown', ['--reference', join(dataDir, 'PG_VERSION'), join(to, 'backup_label')])
  } finally {
    await client.end()
  }
}

/** Replaces the data of a stopped PostgreSQL by a copy, and starts it. */
export async function restore(from: string, dataDir: string, port: number): Promise<Postgres> {
  await rm(dataDir, { recursive: true, force: true })
  await run('cp', ['--archive', from, dataDir])
  return startPostgres({ dataDir, port })
}
