import { applyTier } from './apply-tier.ts'
import type { BillingProvider } from './billing-provider.ts'

/** No payment: what the owner chooses holds at once. For those who host Belfry themselves. */
export const manualBilling: BillingProvider = {
  name: 'manual',
  async changeTier(ctx, by, tier) {
    await applyTier(ctx, by, tier)
    return { kind: 'applied' }
  },
}
