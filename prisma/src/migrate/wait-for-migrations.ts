import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { codeOf } from '../postgres/database-errors.ts'
import { findPrimary } from '../postgres/primary-client.ts'
import { withClient } from '../postgres/with-client.ts'
import { filesOf, readDefinitions } from './definitions.ts'
import { findMigrationFolder, readMigrationFiles } from './migration-folder.ts'
import { readMigrationHistory } from './read-history.ts'

const pauseMs = 1000
const maxWaitMs = 600_000

/**
 * Waits until another process has applied every migration of this version, and its functions and triggers. Rejects after ten
 * minutes. Changes nothing, and ignores migrations of a later version.
 * @param onWait - Receives the missing migrations at first, and whenever there are fewer.
 */
export async function waitForMigrations(
  databaseUrl: string,
  onWait: (missing: string[]) => void,
  folder = findMigrationFolder(),
): Promise<void> {
  const giveUpAt = performance.now() + maxWaitMs
  for (let known = Number.POSITIVE_INFINITY; ; await sleep(pauseMs)) {
    const missing = await readMissing(databaseUrl, folder)
    if (missing.length === 0) return
    if (performance.now() > giveUpAt)
      throw new Error(`These migrations were not applied within ten minutes: ${missing.join(', ')}.`)
    if (missing.length < known) onWait(missing)
    known = missing.length
  }
}

/** True until `deploy` has created the role of the service and granted its rights. */
export function isBeforeMigration(error: unknown): boolean {
  return ['28000', '28P01', '42501'].includes(codeOf(error))
}

async function readMissing(databaseUrl: string, folder: string): Promise<string[]> {
  try {
    const read = (client: pg.Client) => readMigrationHistory(client, folder)
    return (await withClient({ connectionString: await findPrimary(databaseUrl) }, read)).pending
  } catch (error) {
    if (!isBeforeMigration(error)) throw error
    const migrations = await readMigrationFiles(folder)
    return [...migrations.map(({ name }) => name), ...filesOf(await readDefinitions(folder))]
  }
}
