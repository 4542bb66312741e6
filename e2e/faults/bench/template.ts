import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPostgres } from '@belfry/embedded'
import pg from 'pg'
import { repositoryRoot } from '../../repository-root.ts'
import { installHistory } from './history.ts'

/** A migrated data directory that every bench starts from a copy of. */
export type Template = {
  copyTo(dataDir: string): Promise<void>
  /** Where the benches of this run keep their files. */
  folder: string
  remove(): void
}

const run = promisify(execFile)

/** Makes the template: a cluster with the product's migrations and the bench's history. */
export async function makeTemplate(): Promise<Template> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-faults-'))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.once('exit', remove)
  const dataDir = join(folder, 'template')
  const postgres = await startPostgres({ dataDir, settings: { fsync: 'off' } })
  const migrations = join(repositoryRoot(), 'prisma/dist/main.mjs')
  try {
    await run(process.execPath, [migrations, 'deploy'], { env: { ...process.env, DATABASE_URL: postgres.url() } })
    const client = new pg.Client({ connectionString: postgres.url() })
    await client.connect()
    await client.query(installHistory)
    await client.end()
  } finally {
    await postgres.stop()
  }
  return {
    folder,
    copyTo: async to => void (await run('cp', ['-a', dataDir, to])),
    remove,
  }
}
