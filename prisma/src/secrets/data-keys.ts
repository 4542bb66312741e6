import { type DataKey, type MasterKeys, newDataKey, unwrapDataKey, type WrappedDataKey } from '@belfry/vault'
import type { Transaction } from '../postgres/in-transaction.ts'

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
    return unwrapDataKey(masterKeys, toWrapped(workspaceId, newest))
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
  const opened = new Map<string, DataKey>()
  return row => {
    const name = `${row.workspaceId} ${row.version}`
    try {
      const dataKey = opened.get(name) ?? unwrapDataKey(masterKeys, toWrapped(row.workspaceId, row))
      opened.set(name, dataKey)
      return dataKey.open(row.id, row.sealedValue)
    } catch (cause) {
      throw new UnreadableSecretError(cause instanceof Error ? cause.message : String(cause), { cause })
    }
  }
}

export type SealedRow = DataKeyRow & { id: string; workspaceId: string; sealedValue: Buffer }

function toWrapped(workspaceId: string, { version, masterKeyId, wrappedKey }: DataKeyRow): WrappedDataKey {
  return { workspaceId, version, masterKeyId, wrappedKey }
}
