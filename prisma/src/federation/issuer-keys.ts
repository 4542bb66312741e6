import type { Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

export type CredentialOfWorkspace = { id: string; workspaceId: string }

/**
 * Orders a dispatcher to read the keys of a credential's issuer, unless the last order is younger than `pauseMs`.
 * @param messageId - The message of a new order. The caller adds it to the outbox in the same transaction.
 * @returns The message of the last order, perhaps this one; null when the credential has been deleted.
 */
export async function orderIssuerKeys(
  tx: Transaction,
  { id, workspaceId }: CredentialOfWorkspace,
  messageId: string,
  pauseMs: number,
): Promise<string | null> {
  const { rowCount } = await tx.query(
    `UPDATE federated_credentials SET keys_message_id = $3, keys_ordered_at = clock_timestamp()
     WHERE id = $1 AND workspace_id = $2
       AND (keys_ordered_at IS NULL OR keys_ordered_at < clock_timestamp() - $4 * interval '1 millisecond')`,
    [id, workspaceId, messageId, pauseMs],
  )
  if (rowCount === 1) return messageId
  const text = 'SELECT keys_message_id AS message FROM federated_credentials WHERE id = $1 AND workspace_id = $2'
  return (await tx.query<{ message: string }>(text, [id, workspaceId])).rows[0]?.message ?? null
}

/** Returns the issuer of a federated credential; null when the credential or its workspace has been deleted. */
export async function readIssuer(pool: Pool, { id, workspaceId }: CredentialOfWorkspace): Promise<string | null> {
  const { rows } = await pool.query<{ issuer: string }>(
    `SELECT c.issuer FROM federated_credentials c JOIN workspaces w ON w.id = c.workspace_id AND w.deleted_at IS NULL
     WHERE c.id = $1 AND c.workspace_id = $2`,
    [id, workspaceId],
  )
  return rows[0]?.issuer ?? null
}

export async function storeIssuerKeys(pool: Pool, { id, workspaceId }: CredentialOfWorkspace, keys: object) {
  await pool.query(
    `UPDATE federated_credentials SET keys = $3, keys_read_at = clock_timestamp() WHERE id = $1 AND workspace_id = $2`,
    [id, workspaceId, JSON.stringify(keys)],
  )
}
