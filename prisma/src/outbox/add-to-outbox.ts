import type { MasterKeys } from '@belfry/vault'
import type { AnyTransaction } from '../audit-log.ts'
import type { OutboxKind } from '../generated/enums.ts'
import { storedContent } from './message-content.ts'

export type NewOutboxMessage = {
  id: string
  kind: OutboxKind
  /** A description for operators, without the recipient or the content. */
  label: string
  /** The content as JSON text. */
  content: string
  /** Encrypt the content; required for messages with a secret, such as a link. Null stores it unencrypted. */
  masterKeys: MasterKeys | null
  /** The message expires after this time. Default: three days. */
  usefulMs?: number
}

const usefulMs = 3 * 24 * 3_600_000

/** Stores a message in the transaction of the event that it reports. */
export async function addToOutbox(tx: AnyTransaction, message: NewOutboxMessage): Promise<void> {
  const { content, masterKeyId, wrappedKey } = storedContent(message.id, message.content, message.masterKeys)
  const text = `
    INSERT INTO outbox (id, kind, label, content, master_key_id, wrapped_key, expires_at)
    VALUES ($1::uuid, $2::outbox_kind, $3, $4, $5, $6, now() + $7::float8 * interval '1 millisecond')`
  const values = [message.id, message.kind, message.label, content, masterKeyId, wrappedKey]
  const all = [...values, message.usefulMs ?? usefulMs]
  if ('$executeRawUnsafe' in tx) await tx.$executeRawUnsafe(text, ...all)
  else await tx.query(text, all)
}
