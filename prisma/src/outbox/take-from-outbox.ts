import type { MasterKeys } from '@belfry/vault'
import type { OutboxKind } from '../generated/enums.ts'
import type { Pool } from '../postgres/pool.ts'
import { openContent, type StoredContent } from './message-content.ts'

/** A message that the caller may send now. `attempt` is 1 for the first time. */
export type TakenOutboxMessage = {
  id: string
  kind: OutboxKind
  label: string
  attempt: number
  createdAt: Date
  /** Decrypts the content. Throws when its master key is missing. */
  open(masterKeys: MasterKeys): string
}

type Row = Omit<TakenOutboxMessage, 'open'> & StoredContent

/**
 * Takes the oldest due message of a kind; null when none is due. No other caller gets it for `leaseMs`. When no outcome has
 * been recorded by then, the message is sent again.
 */
export async function takeFromOutbox(
  pool: Pool,
  kind: OutboxKind,
  leaseMs: number,
): Promise<TakenOutboxMessage | null> {
  const { rows } = await pool.query<Row>(
    `UPDATE outbox SET attempts = attempts + 1, due_at = clock_timestamp() + $2 * interval '1 millisecond'
     WHERE id = (
       SELECT id FROM outbox
       WHERE finished_at IS NULL AND kind = $1 AND due_at <= clock_timestamp() AND expires_at > clock_timestamp()
       ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
     )
     RETURNING id, kind, label, attempts AS attempt, created_at AS "createdAt", content,
               master_key_id AS "masterKeyId", wrapped_key AS "wrappedKey"`,
    [kind, leaseMs],
  )
  const [row] = rows
  if (!row) return null
  const { content, masterKeyId, wrappedKey, ...message } = row
  return { ...message, open: keys => openContent(message.id, { content, masterKeyId, wrappedKey }, keys) }
}

/** Records that a message was sent or, with an `error`, given up. Deletes its content. */
export async function finishOutboxMessage(
  pool: Pool,
  { id, attempt }: Pick<TakenOutboxMessage, 'id' | 'attempt'>,
  error: string | null,
): Promise<void> {
  // A sent message is sent, even when its lease is over. A failure counts only for the latest attempt.
  await pool.query(
    `UPDATE outbox SET sent = $3::text IS NULL, last_error = coalesce($3::text, last_error), ${finished}
     WHERE id = $1 AND finished_at IS NULL AND (attempts = $2 OR $3::text IS NULL)`,
    [id, attempt, error],
  )
}

/**
 * Postpones a message that could not be sent, or gives it up when it expires before the next attempt.
 * @returns Whether it was postponed.
 */
export async function postponeOutboxMessage(
  pool: Pool,
  message: Pick<TakenOutboxMessage, 'id' | 'attempt'>,
  delayMs: number,
  error: string,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE outbox SET due_at = clock_timestamp() + $3 * interval '1 millisecond', last_error = $4
     WHERE id = $1 AND attempts = $2 AND finished_at IS NULL
       AND expires_at > clock_timestamp() + $3 * interval '1 millisecond'`,
    [message.id, message.attempt, delayMs, error],
  )
  if (rowCount === 0) await finishOutboxMessage(pool, message, error)
  return rowCount === 1
}

export const finished = 'finished_at = clock_timestamp(), content = NULL, master_key_id = NULL, wrapped_key = NULL'
