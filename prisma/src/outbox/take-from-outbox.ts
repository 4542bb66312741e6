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
  /** Throws when the master key that it takes is not there. */
  open(masterKeys: MasterKeys): string
}

type Row = Omit<TakenOutboxMessage, 'open'> & StoredContent

/**
 * Takes the message of a kind that has been due longest; null when none is. Nobody else gets it for `leaseMs`: who has
 * not told by then how it ended is taken for lost, and the message is sent again.
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

/** Ends a message: it was sent, or with an error it is given up. What it said is forgotten. */
export async function finishOutboxMessage(
  pool: Pool,
  { id, attempt }: Pick<TakenOutboxMessage, 'id' | 'attempt'>,
  error: string | null,
): Promise<void> {
  // What was sent was sent, also when the lease had passed meanwhile. A failure counts only as the latest attempt's.
  await pool.query(
    `UPDATE outbox SET sent = $3::text IS NULL, last_error = coalesce($3::text, last_error), ${finished}
     WHERE id = $1 AND finished_at IS NULL AND (attempts = $2 OR $3::text IS NULL)`,
    [id, attempt, error],
  )
}

/**
 * Lets a message that could not be sent wait for its next attempt, or gives it up when it would be of no use by then.
 * @returns Whether it waits.
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
