import { type TierName, toId } from '@belfry/domain'
import { type Auditor, audit } from '../audit/audit.ts'
import type { Context } from '../context.ts'
import { lockOrganization } from '../organizations/lock-organization.ts'

/** Puts an organization on a tier, from the next claim on. Nothing that a lower tier has no room for is taken away. */
export async function applyTier(ctx: Context, by: Auditor, tier: TierName): Promise<void> {
  const where = { id: by.organizationId }
  await ctx.prisma.$transaction(async tx => {
    await lockOrganization(tx, by.organizationId)
    const before = await tx.organization.findUniqueOrThrow({ where })
    if (before.tier === tier) return
    await tx.organization.update({ where, data: { tier } })
    const details = { from: before.tier, to: tier }
    await audit(tx, by, { action: 'organization.tier_changed', objectId: toId('org', by.organizationId), details })
  })
  ctx.quotaStandings.forget(by.organizationId)
}
