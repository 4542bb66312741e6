import {
  type DataKey,
  type MasterKeys,
  newDataKey,
  rewrapDataKey,
  unwrapDataKey,
  type WrappedDataKey,
} from '@belfry/vault'
import type { Db, Transaction } from '../postgres/in-transaction.ts'
import { ownKeyVersion } from './own-data-key.ts'

// Random nonces of 96 bits are safe for 2^32 encryptions. This limit is far below that, and is still rarely reached.
const maxUses = 1_000_000

/** Returns the data key that encrypts for a workspace, and counts one use. Must run under the lock of `inWorkspace`. */
export async function takeDataKey(tx: Transaction, masterKeys: MasterKeys, workspaceId: string): Promise<DataKey> {
  const text = `
    SELECT ${dataKeyColumns}, k.uses FROM data_keys k WHERE k.workspace_id = $1 ORDER BY k.version DESC LIMIT 1`
  const { rows } = await tx.query<DataKeyRow & { uses: number }>(text, [workspaceId])
  const [newest] = rows
  if (newest && newest.uses < maxUses) {
    const use = 'UPDATE data_keys SET uses = uses + 1 WHERE workspace_id = $1 AND version = $2'
    await tx.query(use, [workspaceId, newest.version])
    return unwrapDataKey(masterKeys, { workspaceId, ...newest })
  }
  const next = newDataKey(masterKeys, workspaceId, (newest?.version ?? 0) + 1)
  const insert = `
    INSERT INTO data_keys (workspace_id, version, master_key_id, wrapped_key, uses) VALUES ($1, $2, $3, $4, 1)`
  await tx.query(insert, [workspaceId, next.version, next.masterKeyId, next.wrappedKey])
  return unwrapDataKey(masterKeys, next)
}

/** The columns of a data key, for statements that join `data_keys k`. */
export const dataKeyColumns = 'k.version, k.master_key_id AS "masterKeyId", k.wrapped_key AS "wrappedKey"'

type DataKeyRow = { version: number; masterKeyId: string; wrappedKey: Buffer }

/** A stored secret cannot be decrypted: its master key is missing or wrong, or the value was not sealed for its row. */
export class UnreadableSecretError extends Error {}

/**
 * Returns a function that decrypts sealed rows and unwraps each data key once. It throws UnreadableSecretError.
 */
export function createOpener(masterKeys: MasterKeys): (row: SealedRow) => string {
  const withKey = createKeyReader(masterKeys)
  return row => withKey(row, dataKey => dataKey.open(row.id, row.sealedValue))
}

/**
 * Returns a function that uses the data key of a row, and unwraps each data key once. It throws UnreadableSecretError.
 */
export function createKeyReader(masterKeys: MasterKeys): <T>(row: SealedRow, use: (dataKey: DataKey) => T) => T {
  const opened = new Map<string, DataKey>()
  return (row, use) => {
    const name = `${row.workspaceId} ${row.version}`
    try {
      const dataKey = opened.get(name) ?? unwrapDataKey(masterKeys, row)
      opened.set(name, dataKey)
      return use(dataKey)
    } catch (cause) {
      throw new UnreadableSecretError(cause instanceof Error ? cause.message : String(cause), { cause })
    }
  }
}

/** Returns the result of a decryption, or the UnreadableSecretError that it throws. */
export function orUnreadable<T>(decrypt: () => T): T | UnreadableSecretError {
  try {
    return decrypt()
  } catch (error) {
    if (error instanceof UnreadableSecretError) return error
    throw error
  }
}

export type SealedRow = DataKeyRow & { id: string; workspaceId: string; sealedValue: Buffer }

const batchSize = 100

/**
 * Rewraps the data keys of older master keys with the current one. It may be interrupted, repeated, and run beside the
 * services: one statement changes one key, and both master keys can read meanwhile.
 * @returns How many data keys it rewrapped.
 */
export async function rewrapDataKeys(db: Db, masterKeys: MasterKeys, onProgress = (_total: number) => {}) {
  const text = `SELECT ${wrappedColumns} FROM ${everyKey} WHERE master_key_id <> $1 LIMIT ${batchSize}`
  let total = 0
  for (;;) {
    const { rows } = await db.query<Stored>(text, [masterKeys.current.id])
    if (rows.length === 0) return total
    for (const wrapped of rows) total += await replace(db, wrapped, rewrapDataKey(masterKeys, wrapped))
    onProgress(total)
  }
}

// Messages in the outbox, authenticator apps, audit streams and keys of identity tokens own their data keys, as a
// workspace owns the data keys of its secrets. The column names the owner.
const ownerOf = { outbox: 'id', totp_factors: 'id', audit_streams: 'organization_id', identity_keys: 'id' }

type Stored = WrappedDataKey & { store: keyof typeof ownerOf | 'data_keys' }

// Skips the row when another process was faster, or the row no longer needs its key.
async function replace(db: Db, from: Stored, to: WrappedDataKey): Promise<number> {
  const isKey =
    from.store === 'data_keys'
      ? 'workspace_id = $3 AND version = $4'
      : `${ownerOf[from.store]} = $3 AND ${ownKeyVersion} = $4`
  const { rowCount } = await db.query(
    `UPDATE ${from.store} SET master_key_id = $1, wrapped_key = $2
     WHERE ${isKey} AND master_key_id = $5 AND wrapped_key = $6`,
    [to.masterKeyId, to.wrappedKey, from.workspaceId, from.version, from.masterKeyId, from.wrappedKey],
  )
  return rowCount ?? 0
}

/** Returns how many data keys each master key wraps, by the id of the master key. */
export async function countWrappedKeys(db: Db): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; n: number }>(
    `SELECT master_key_id AS id, count(*)::int AS n FROM ${everyKey} GROUP BY 1 ORDER BY 1`,
  )
  return new Map(rows.map(({ id, n }) => [id, n]))
}

/**
 * Checks whether the stored secrets can be read: each master key that wraps a data key must be present and unchanged.
 * Returns the problem as a sentence, or null.
 */
export async function findMasterKeyProblem(db: Db, masterKeys: MasterKeys): Promise<string | null> {
  const { rows } = await db.query<WrappedDataKey>(
    `SELECT DISTINCT ON (master_key_id) ${wrappedColumns} FROM ${everyKey} ORDER BY master_key_id`,
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
  'store, workspace_id AS "workspaceId", version, master_key_id AS "masterKeyId", wrapped_key AS "wrappedKey"'

const ownKeys = Object.entries(ownerOf).map(
  ([store, owner]) => `
  UNION ALL
  SELECT '${store}', ${owner}, ${ownKeyVersion}, master_key_id, wrapped_key FROM ${store} WHERE master_key_id IS NOT NULL`,
)
const everyKey = `(
  SELECT 'data_keys' AS store, workspace_id, version, master_key_id, wrapped_key FROM data_keys ${ownKeys.join('')}
) AS every_key`
