import type { TierName } from '@belfry/domain/tiers'
import type { BillingAccount as StoredAccount } from '../generated/client.ts'
import { changeTier } from '../organizations/organizations.ts'
import { type Db, inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

/**
 * The last known state of an organization at the payment provider. The provider's own state is authoritative. `tier` is
 * null when there is no subscription, or the configuration does not know its tier. The organization has got the tier that
 * the state granted at `updatedAt`; an operator may have set another one since.
 */
export type BillingAccount = Omit<StoredAccount, 'tier' | 'nextTier'> & {
  tier: TierName | null
  nextTier: TierName | null
}

export type BillingState = Omit<BillingAccount, 'organizationId' | 'customerId' | 'checkoutId' | 'updatedAt'>

const columns = `
  organization_id AS "organizationId", customer_id AS "customerId", checkout_id AS "checkoutId",
  subscription_id AS "subscriptionId", status, tier, period_end AS "periodEnd", next_tier AS "nextTier",
  next_tier_at AS "nextTierAt", grace_until AS "graceUntil", updated_at AS "updatedAt"`

/** Null when the organization never had an account. */
export async function readBillingAccount(db: Db, organizationId: string): Promise<BillingAccount | null> {
  return find(db, 'organization_id = $1', organizationId)
}

/** Creates an organization's account if needed, and locks it until the transaction ends. */
export async function lockBillingAccount(tx: Transaction, organizationId: string): Promise<BillingAccount> {
  await tx.query('INSERT INTO billing_accounts (organization_id) VALUES ($1) ON CONFLICT DO NOTHING', [organizationId])
  const account = await find(tx, 'organization_id = $1 FOR UPDATE', organizationId)
  return account ?? Promise.reject(new Error('The billing account has just been removed.'))
}

/** Locks the account of a customer until the transaction ends; null if the customer is unknown. */
export async function lockBillingAccountOf(tx: Transaction, customerId: string): Promise<BillingAccount | null> {
  return find(tx, 'customer_id = $1 FOR UPDATE', customerId)
}

async function find(db: Db, condition: string, id: string): Promise<BillingAccount | null> {
  const { rows } = await db.query<BillingAccount>(`SELECT ${columns} FROM billing_accounts WHERE ${condition}`, [id])
  return rows[0] ?? null
}

export async function storeBillingAccount(tx: Transaction, account: BillingAccount): Promise<void> {
  const text = `
    UPDATE billing_accounts
    SET customer_id = $2, checkout_id = $3, subscription_id = $4, status = $5, tier = $6, period_end = $7, next_tier = $8,
        next_tier_at = $9, grace_until = $10, updated_at = $11
    WHERE organization_id = $1`
  await tx.query(text, [
    ...[account.organizationId, account.customerId, account.checkoutId, account.subscriptionId, account.status],
    ...[account.tier, account.periodEnd, account.nextTier, account.nextTierAt, account.graceUntil, account.updatedAt],
  ])
}

/** Records an event in the transaction that handles it. Returns false when the event has been handled before. */
export async function recordBillingEvent(tx: Transaction, id: string): Promise<boolean> {
  const { rowCount } = await tx.query('INSERT INTO billing_events (id) VALUES ($1) ON CONFLICT DO NOTHING', [id])
  return rowCount === 1
}

const scheduler = { userId: null, apiKeyId: null, address: '', details: { by: 'billing' } }

/**
 * Moves organizations whose grace period is over to the tier `free`, once, and calls `notify` for each in the same transaction.
 * @returns How many organizations, at most `limit`.
 */
export async function endGracePeriods(
  pool: Pool,
  now: Date,
  limit: number,
  notify: (tx: Transaction, ended: { organizationId: string; from: TierName }) => Promise<void>,
): Promise<number> {
  return inTransaction(pool, async tx => {
    // Locks the account before the organization, in the same order as the API.
    const { rows } = await tx.query<{ id: string }>(
      `SELECT b.organization_id AS id FROM billing_accounts b JOIN organizations o ON o.id = b.organization_id
       WHERE b.grace_until <= $1 AND b.updated_at < b.grace_until AND o.deleted_at IS NULL
       ORDER BY b.grace_until LIMIT $2 FOR UPDATE OF b SKIP LOCKED`,
      [now, limit],
    )
    for (const { id } of rows) {
      await tx.query('UPDATE billing_accounts SET updated_at = $2 WHERE organization_id = $1', [id, now])
      const from = await changeTier(tx, id, 'free', scheduler)
      if (from !== null) await notify(tx, { organizationId: id, from })
    }
    return rows.length
  })
}
