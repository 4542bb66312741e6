import { createHash } from 'node:crypto'
import { newUuid } from '@belfry/domain/id'
import type { Db, Transaction } from '../postgres/in-transaction.ts'

export type MailBlock = {
  /** Its owner has unsubscribed, and has not agreed again. */
  isUnsubscribed: boolean
  /** An operator has blocked it. */
  isBlocked: boolean
}

export type BlockedAddress = { id: string; address: string; blockedAt: Date }

/** Returns the hash by which the database knows an address. */
export function hashAddress(address: string): Buffer {
  return createHash('sha256').update(address.toLowerCase()).digest()
}

/** SQL: the same hash of the address of an integration. */
const hashOfTarget = `sha256(convert_to(lower(shown_target), 'UTF8'))`

export async function readMailBlock(db: Db, address: string): Promise<MailBlock> {
  const text = `
    SELECT unsubscribed_at IS NOT NULL AS "isUnsubscribed", blocked_at IS NOT NULL AS "isBlocked"
    FROM mail_blocks WHERE address_hash = $1`
  const { rows } = await db.query<MailBlock>({ name: 'read_mail_block', text, values: [hashAddress(address)] })
  return rows[0] ?? { isUnsubscribed: false, isBlocked: false }
}

/** Ends the alerts to an address, from all workspaces, until its owner agrees again. */
export async function unsubscribeAddress(db: Db, addressHash: Uint8Array): Promise<void> {
  const text = `
    WITH ended AS (
      UPDATE integrations SET confirmed_at = NULL, confirm_hash = NULL WHERE channel = 'email' AND ${hashOfTarget} = $2
    )
    INSERT INTO mail_blocks (id, address_hash, unsubscribed_at) VALUES ($1, $2, now())
    ON CONFLICT (address_hash) DO UPDATE SET unsubscribed_at = coalesce(mail_blocks.unsubscribed_at, now())`
  await db.query(text, [newUuid(), addressHash])
}

/**
 * Records that a recipient has confirmed the address of an integration, and so gets alerts again. Returns false for an
 * unknown or used token.
 */
export async function confirmIntegration(db: Db, confirmHash: Uint8Array): Promise<boolean> {
  const text = `
    WITH confirmed AS (
      UPDATE integrations SET confirmed_at = now(), confirm_hash = NULL WHERE confirm_hash = $1
      RETURNING ${hashOfTarget} AS address_hash
    ),
    subscribed AS (
      UPDATE mail_blocks b SET unsubscribed_at = NULL FROM confirmed c WHERE b.address_hash = c.address_hash
    )
    SELECT FROM confirmed`
  return (await db.query(text, [confirmHash])).rowCount === 1
}

/** Blocks an address. Returns false when it was blocked already. */
export async function blockAddress(tx: Transaction, address: string): Promise<boolean> {
  const text = `
    INSERT INTO mail_blocks (id, address_hash, blocked_at, address) VALUES ($1, $2, now(), $3)
    ON CONFLICT (address_hash) DO UPDATE SET id = excluded.id, blocked_at = excluded.blocked_at, address = excluded.address
    WHERE mail_blocks.blocked_at IS NULL`
  return (await tx.query(text, [newUuid(), hashAddress(address), address.toLowerCase()])).rowCount === 1
}

/** Ends the block of an address. Returns false when no operator has blocked it. */
export async function unblockAddress(tx: Transaction, address: string): Promise<boolean> {
  const text = `
    UPDATE mail_blocks SET blocked_at = NULL, address = NULL WHERE address_hash = $1 AND blocked_at IS NOT NULL`
  return (await tx.query(text, [hashAddress(address)])).rowCount === 1
}

/**
 * Lists the addresses that operators have blocked, newest first.
 * @param before - The id of the last one of the previous page.
 */
export async function listBlockedAddresses(
  db: Db,
  { search, before, limit }: { search: string; before: string | null; limit: number },
): Promise<BlockedAddress[]> {
  const text = `
    SELECT id, address, blocked_at AS "blockedAt" FROM mail_blocks
    WHERE blocked_at IS NOT NULL AND ($1 = '' OR strpos(address, lower($1)) > 0) AND ($2::uuid IS NULL OR id < $2)
    ORDER BY id DESC LIMIT $3`
  return (await db.query<BlockedAddress>(text, [search, before, limit])).rows
}
