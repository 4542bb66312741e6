import type { TierName } from '@belfry/domain'
import type { Db, Transaction } from '../postgres/in-transaction.ts'

/** What the payment provider last said of an organization. The provider is the truth; this is what was read of it. */
export type BillingAccount = BillingState & {
  organizationId: string
  customerId: string | null
  /** The latest checkout that was begun. */
  checkoutId: string | null
}

/** The state of a subscription. */
export type BillingState = {
  subscriptionId: string | null
  /** As the provider names it. */
  status: string | null
  /** The tier that the subscription is for; null when there is none, or none that the configuration knows. */
  tier: TierName | null
  periodEnd: Date | null
  /** The tier from `nextTierAt` on, where a change is planned. */
  nextTier: TierName | null
  nextTierAt: Date | null
  /** While a payment is missing: how long the tier stays. */
  graceUntil: Date | null
}

const columns = `
  organization_id AS "organizationId", customer_id AS "customerId", checkout_id AS "checkoutId",
  subscription_id AS "subscriptionId", status, tier, period_end AS "periodEnd", next_tier AS "nextTier",
  next_tier_at AS "nextTierAt", grace_until AS "graceUntil"`

/** Reads an organization's account; null when it never had one. */
export async function readBillingAccount(db: Db, organizationId: string): Promise<BillingAccount | null> {
  const text = `SELECT ${columns} FROM billing_accounts WHERE organization_id = $1`
  const { rows } = await db.query<BillingAccount>(text, [organizationId])
  return rows[0] ?? null
}

/** Opens an organization's account where there is none, and locks it until the transaction ends. */
export async function lockBillingAccount(tx: Transaction, organizationId: string): Promise<BillingAccount> {
  await tx.query('INSERT INTO billing_accounts (organization_id) VALUES ($1) ON CONFLICT DO NOTHING', [organizationId])
  const text = `SELECT ${columns} FROM billing_accounts WHERE organization_id = $1 FOR UPDATE`
  const { rows } = await tx.query<BillingAccount>(text, [organizationId])
  return rows[0] ?? Promise.reject(new Error('The billing account has just been removed.'))
}

/** Locks the account of a customer until the transaction ends; null when there is none. */
export async function lockBillingAccountOf(tx: Transaction, customerId: string): Promise<BillingAccount | null> {
  const text = `SELECT ${columns} FROM billing_accounts WHERE customer_id = $1 FOR UPDATE`
  const { rows } = await tx.query<BillingAccount>(text, [customerId])
  return rows[0] ?? null
}

/** Stores a locked account. */
export async function storeBillingAccount(tx: Transaction, account: BillingAccount): Promise<void> {
  const text = `
    UPDATE billing_accounts
    SET customer_id = $2, checkout_id = $3, subscription_id = $4, status = $5, tier = $6, period_end = $7, next_tier = $8,
        next_tier_at = $9, grace_until = $10, updated_at = now()
    WHERE organization_id = $1`
  await tx.query(text, [
    ...[account.organizationId, account.customerId, account.checkoutId, account.subscriptionId, account.status],
    ...[account.tier, account.periodEnd, account.nextTier, account.nextTierAt, account.graceUntil],
  ])
}

/** Records that an event is handled, in the transaction that does so. Returns false when it has been handled before. */
export async function recordBillingEvent(tx: Transaction, id: string): Promise<boolean> {
  const { rowCount } = await tx.query('INSERT INTO billing_events (id) VALUES ($1) ON CONFLICT DO NOTHING', [id])
  return rowCount === 1
}
