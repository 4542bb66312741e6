import type { MasterKeys } from '@belfry/vault'
import type { AnyTransaction } from '../audit-log.ts'
import type { OutboxKind } from '../generated/enums.ts'
import { storedContent } from './message-content.ts'

export type NewOutboxMessage = {
  id: string
  kind: OutboxKind
  /** What it is, for operators: never whom it goes to or what it says. */
  label: string
  /** What it says, a JSON text. */
  content: string
  /** Encrypt the content, which a message that opens something needs; null stores it as it is. */
  masterKeys: MasterKeys | null
  /** For how long sending it makes sense. Default: three days. */
  usefulMs?: number
}

const usefulMs = 3 * 24 * 3_600_000

/** Stores a message, in the transaction that makes what it tells of. */
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
