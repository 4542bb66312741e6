import { setTimeout as sleep } from 'node:timers/promises'
import type { MasterKeys } from '@belfry/vault'
import type { OutboxMessage } from '../generated/client.ts'
import type { OutboxKind } from '../generated/enums.ts'
import { type AnyTransaction, dbOf } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { openWithOwnKey, sealWithOwnKey } from '../secrets/own-data-key.ts'

export type NewOutboxMessage = Pick<OutboxMessage, 'id' | 'kind' | 'label'> & {
  /** The content as JSON text. */
  content: string
  /** Encrypt the content; required for messages with a secret, such as a link. Null stores it unencrypted. */
  masterKeys: MasterKeys | null
  /** The message expires after this time. Default: three days. */
  usefulMs?: number
  /** The organization for which it is sent, or one of its workspaces. Omitted e.g. for account mails. */
  tenant?: MessageTenant
}

export type MessageTenant = { organizationId: string } | { workspaceId: string }

const usefulMs = 3 * 24 * 3_600_000

/** Stores a message in the transaction of the event that it reports. An encrypted content is bound to its id. */
export async function addToOutbox(tx: AnyTransaction, message: NewOutboxMessage): Promise<void> {
  const { id, content, masterKeys } = message
  const plain = { sealed: Buffer.from(content), masterKeyId: null, wrappedKey: null }
  const { sealed, masterKeyId, wrappedKey } = masterKeys === null ? plain : sealWithOwnKey(masterKeys, id, content)
  const text = `
    INSERT INTO outbox (id, kind, label, content, master_key_id, wrapped_key, expires_at, organization_id)
    VALUES ($1::uuid, $2::outbox_kind, $3, $4, $5, $6, now() + $7::float8 * interval '1 millisecond',
            coalesce($8::uuid, (SELECT organization_id FROM workspaces WHERE id = $9::uuid)))`
  const values = [id, message.kind, message.label, sealed, masterKeyId, wrappedKey]
  const { organizationId, workspaceId }: { organizationId?: string; workspaceId?: string } = message.tenant ?? {}
  await dbOf(tx).query(text, [...values, message.usefulMs ?? usefulMs, organizationId ?? null, workspaceId ?? null])
}

/** A message that the caller may send now. `attempt` is 1 for the first time. */
export type TakenOutboxMessage = Pick<OutboxMessage, 'id' | 'kind' | 'label' | 'organizationId'> & {
  attempt: number
  /** By PostgreSQL's clock. */
  takenAt: Date
  /** Decrypts the content. Throws when its master key is missing. */
  open(masterKeys: MasterKeys): string
}

type Row = Omit<TakenOutboxMessage, 'open'> &
  Pick<OutboxMessage, 'masterKeyId'> & { content: Buffer; wrappedKey: Buffer | null }

/**
 * Takes the oldest due message of a kind; null if none is due. No other caller gets it for `leaseMs`. When no outcome
 * has been recorded by then, the message is sent again.
 * @param excluded - Organizations whose messages wait. Optional.
 */
export async function takeFromOutbox(pool: Pool, kind: OutboxKind, leaseMs: number, excluded: readonly string[] = []) {
  const { rows } = await pool.query<Row>(
    `UPDATE outbox SET attempts = attempts + 1, due_at = clock_timestamp() + $2 * interval '1 millisecond'
     WHERE id = (
       SELECT id FROM outbox
       WHERE finished_at IS NULL AND kind = $1 AND due_at <= clock_timestamp() AND expires_at > clock_timestamp()
         AND (organization_id IS NULL OR organization_id <> ALL ($3::uuid[]))
       ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
     )
     RETURNING id, kind, label, attempts AS attempt, clock_timestamp() AS "takenAt",
               organization_id AS "organizationId", content,
               master_key_id AS "masterKeyId", wrapped_key AS "wrappedKey"`,
    [kind, leaseMs, excluded],
  )
  const [row] = rows
  if (!row) return null
  const { content, masterKeyId, wrappedKey, ...message } = row
  const isPlain = masterKeyId === null || wrappedKey === null
  const open = (keys: MasterKeys) =>
    isPlain ? content.toString() : openWithOwnKey(keys, message.id, { sealed: content, masterKeyId, wrappedKey })
  return { ...message, open }
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

const finished = 'finished_at = clock_timestamp(), content = NULL, master_key_id = NULL, wrapped_key = NULL'

export type OutboxOutcome = { sent: boolean; error: string | null }

/** Reads the outcome of a message; null while it is waiting. */
export async function readOutboxOutcome(pool: Pool, id: string): Promise<OutboxOutcome | null> {
  const text = `
    SELECT sent, CASE WHEN NOT sent THEN last_error END AS error FROM outbox WHERE id = $1 AND finished_at IS NOT NULL`
  return (await pool.query<OutboxOutcome>(text, [id])).rows[0] ?? null
}

/** Waits up to `maxMs` for the outcome of a message, then returns null. */
export async function awaitOutboxOutcome(pool: Pool, id: string, maxMs: number): Promise<OutboxOutcome | null> {
  for (const giveUpAt = performance.now() + maxMs; performance.now() < giveUpAt; await sleep(pollMs)) {
    const outcome = await readOutboxOutcome(pool, id)
    if (outcome) return outcome
  }
  return null
}

const pollMs = 100

/** Gives up expired messages. Returns how many. */
export async function endExpiredMessages(pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE outbox SET last_error = coalesce(last_error, 'Nothing was there to send it with.'), ${finished}
     WHERE finished_at IS NULL AND due_at <= clock_timestamp() AND expires_at <= clock_timestamp()`,
  )
  return rowCount ?? 0
}

/** Deletes messages that finished more than `keptMs` ago. */
export async function pruneOutbox(pool: Pool, keptMs: number): Promise<void> {
  const text = `DELETE FROM outbox WHERE finished_at < clock_timestamp() - $1 * interval '1 millisecond'`
  await pool.query(text, [keptMs])
}
