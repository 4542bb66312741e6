import { type MasterKeys, rewrapDataKey, unwrapDataKey, type WrappedDataKey } from '@belfry/vault'
import type { Pool } from '../pool.ts'

type Queryable = Pick<Pool, 'query'>

const batchSize = 100

/**
 * Wraps the data keys that older master keys wrap by the one that writes. May be stopped at any point, repeated, and run
 * beside everything else: each key changes by itself in one statement, and both master keys read meanwhile.
 * @returns How many were wrapped anew.
 */
export async function rewrapDataKeys(
  db: Queryable,
  masterKeys: MasterKeys,
  onProgress: (total: number) => void = () => {},
): Promise<number> {
  let total = 0
  for (;;) {
    const old = await wrappedByOthers(db, masterKeys.current.id)
    if (old.length === 0) return total
    for (const wrapped of old) total += await replace(db, wrapped, rewrapDataKey(masterKeys, wrapped))
    onProgress(total)
  }
}

async function wrappedByOthers(db: Queryable, masterKeyId: string): Promise<WrappedDataKey[]> {
  const { rows } = await db.query<WrappedDataKey>(
    `SELECT ${wrappedColumns} FROM data_keys WHERE master_key_id <> $1 LIMIT $2`,
    [masterKeyId, batchSize],
  )
  return rows
}

// Somebody else may have been faster.
async function replace(db: Queryable, from: WrappedDataKey, to: WrappedDataKey): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE data_keys SET master_key_id = $1, wrapped_key = $2
     WHERE workspace_id = $3 AND version = $4 AND master_key_id = $5`,
    [to.masterKeyId, to.wrappedKey, from.workspaceId, from.version, from.masterKeyId],
  )
  return rowCount ?? 0
}

/** How many data keys each master key wraps, by its id. */
export async function countWrappedKeys(db: Queryable): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; n: number }>(
    'SELECT master_key_id AS id, count(*)::int AS n FROM data_keys GROUP BY 1 ORDER BY 1',
  )
  return new Map(rows.map(({ id, n }) => [id, n]))
}

/**
 * Finds out whether the stored secrets can be read: whether every master key that wraps something is there, and is the
 * one that it was. Says what is wrong in a sentence, or null.
 */
export async function findMasterKeyProblem(db: Queryable, masterKeys: MasterKeys): Promise<string | null> {
  const { rows } = await db.query<WrappedDataKey>(
    `SELECT DISTINCT ON (master_key_id) ${wrappedColumns} FROM data_keys ORDER BY master_key_id`,
  )
  for (const wrapped of rows) {
    try {
      unwrapDataKey(masterKeys, wrapped)
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  return null
}

const wrappedColumns =
  'workspace_id AS "workspaceId", version, master_key_id AS "masterKeyId", wrapped_key AS "wrappedKey"'
