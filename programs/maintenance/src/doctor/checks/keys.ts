import type { Pool } from '@belfry/db/postgres/pool'
import { countWrappedKeys, findMasterKeyProblem } from '@belfry/db/secrets/data-keys'
import { parseMasterKeys } from '@belfry/vault'
import type { Environment } from '../../config.ts'
import { type Observation, ok, problem, warning } from '../finding.ts'

/** Checks that the encryption keys open the data keys of this database. */
export async function checkKeys(pool: Pool, env: Environment): Promise<Observation[]> {
  const counts = await countWrappedKeys(pool)
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (!env.ENCRYPTION_KEYS) {
    if (total === 0) return [ok('no encrypted data; ENCRYPTION_KEYS is not in this environment')]
    return [
      warning(
        `ENCRYPTION_KEYS is not set here, and ${total} data keys need it.`,
        'Run the doctor with the variables of the services, to check that the keys fit.',
      ),
    ]
  }
  const masterKeys = parseMasterKeys(env.ENCRYPTION_KEYS)
  const misfit = await findMasterKeyProblem(pool, masterKeys)
  if (misfit !== null) {
    return [problem(`ENCRYPTION_KEYS does not fit this database: ${misfit}`, 'Add the earlier key to ENCRYPTION_KEYS.')]
  }
  const older = [...masterKeys.all.keys()].filter(id => id !== masterKeys.current.id && counts.has(id))
  if (older.length === 0) return [ok(`ENCRYPTION_KEYS opens all ${total} data keys`)]
  return [warning(`Data keys are still encrypted by ${older.join(', ')}.`, 'Run rewrap-keys, then remove the old key.')]
}
