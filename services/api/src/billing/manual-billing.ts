import { inTransaction } from '@belfry/db'
import { AppError, tierNames } from '@belfry/domain'
import { applyTier } from './apply-tier.ts'
import type { BillingProvider } from './billing-provider.ts'

/** No payment: what the owner chooses holds at once. For those who host Belfry themselves. */
export const manualBilling: BillingProvider = {
  name: 'manual',
  tiers: tierNames,
  async changeTier(ctx, by, tier) {
    const changer = { userId: by.user?.userId ?? null, apiKeyId: by.apiKeyId, address: by.address }
    await inTransaction(ctx.pool, tx => applyTier(ctx, tx, by.organizationId, tier, changer))
    ctx.quotaStandings.forget(by.organizationId)
    return { kind: 'applied' }
  },
  async openPortal() {
    throw new AppError('conflict', 'This installation has no payment provider: choose a tier instead.')
  },
  receiveWebhook: null,
}
