import type { TierName } from '@belfry/domain'
import type { Auditor } from '../audit/audit.ts'
import type { Context } from '../context.ts'

/**
 * What becomes of the wish for another tier. `applied`: it holds already. `checkout`: it will once somebody has paid at
 * `url`; whoever is told of the payment then applies it.
 */
export type TierChange = { kind: 'applied' } | { kind: 'checkout'; url: string }

/** Who sells tiers. */
export type BillingProvider = {
  name: string
  changeTier(ctx: Context, by: Auditor, tier: TierName): Promise<TierChange>
}
