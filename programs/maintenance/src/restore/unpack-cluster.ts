import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findPostgresBinaries, majorVersionOf } from '@belfry/embedded'
import { PlainError } from '@belfry/launcher'
import { extract } from 'tar'
import { databaseFile } from '../backup/make-backup.ts'
import type { Manifest } from '../backup/manifest.ts'

/** Unpacks the data directory of a backup of files. Its PostgreSQL must be of the major version of the embedded one. */
export async function unpackCluster(backup: string, { postgres }: Manifest, to: string): Promise<void> {
  const wanted = Number(postgres.split('.')[0])
  const own = majorVersionOf((await findPostgresBinaries()).postgres)
  if (own !== wanted) {
    throw new PlainError(
      `The backup is of PostgreSQL ${wanted}; this Belfry includes ${own}. Use the Belfry that made it.`,
    )
  }
  // PostgreSQL refuses a directory that others can read.
  await mkdir(to, { mode: 0o700 })
  await extract({ file: join(backup, databaseFile.files), cwd: to, preserveOwner: false })
}
