import type { Transaction } from '../postgres/in-transaction.ts'

/** For how long a message stands for its repetitions. */
const deduplicationMinutes = 10

/**
 * Claims the hash of a message for a task that the same transaction stores. Returns the id of the earlier task when the
 * hash is taken: then the caller must not store its task. Concurrent calls with one hash run one after the other.
 */
export async function claimMessage(tx: Transaction, workspaceId: string, hash: Uint8Array, taskId: string) {
  const values = [workspaceId, hash, taskId]
  const claimed = await tx.query({ name: 'claim_message', text: claimStatement, values })
  if (claimed.rowCount === 1) return null
  const text = 'SELECT task_id AS id FROM qstash_deduplications WHERE workspace_id = $1 AND hash = $2'
  const { rows } = await tx.query<{ id: string }>({ name: 'find_claimed_message', text, values: [workspaceId, hash] })
  return rows[0]?.id ?? null
}

const claimStatement = `
  INSERT INTO qstash_deduplications AS d (workspace_id, hash, task_id, expires_at)
  VALUES ($1, $2, $3, now() + interval '${deduplicationMinutes} minutes')
  ON CONFLICT (workspace_id, hash) DO UPDATE SET task_id = excluded.task_id, expires_at = excluded.expires_at
  WHERE d.expires_at <= now()`
