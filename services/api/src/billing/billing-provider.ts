import type { TierName } from '@belfry/domain'
import type { Auditor } from '../audit/audit.ts'
import type { Context } from '../context.ts'

/**
 * What becomes of a chosen tier. `applied`: it holds, or will at the end of the period that is paid for. `checkout`: it will
 * once it is paid for at `url`.
 */
export type TierChange = { kind: 'applied' } | { kind: 'checkout'; url: string }

/** Who sells tiers. */
export type BillingProvider = {
  name: 'manual' | 'stripe'
  /** The tiers that an owner can choose. */
  tiers: readonly TierName[]
  changeTier(ctx: Context, by: Auditor, tier: TierName): Promise<TierChange>
  /** Returns the address of the page on which the owner changes the payment method and sees invoices. */
  openPortal(ctx: Context, organizationId: string, returnUrl: string): Promise<string>
  /** Handles what the provider sends; null where nothing is sent. */
  receiveWebhook: ((ctx: Context, body: Buffer, signature: string, address: string) => Promise<void>) | null
}
