import { operations } from '@belfry/contract/operations'
import type { Usage } from '@belfry/contract/usage'
import { readDailyUsage, readUsage, type Usage as UsedAmounts } from '@belfry/db/usage/read-usage'
import { presentLimit } from '@belfry/domain/tiers'
import { presentPeriod } from '../billing/present-subscription.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'

export const getUsage = endpoint(operations.getUsage, async (ctx, { caller }) => {
  const { organizationId } = caller
  const [used, daily] = await Promise.all([
    readUsage(ctx.pool, organizationId),
    readDailyUsage(ctx.pool, organizationId),
  ])
  if (!used) throw notFound()
  return { ...presentUsage(ctx, used), daily }
})

/** Returns the public form of what an organization has used of its tier, without the single days. */
export function presentUsage({ config }: Context, used: UsedAmounts): Omit<Usage, 'daily'> {
  const limits = config.tiers[used.tier]
  return {
    period: presentPeriod(used.now),
    executions: { used: used.executions, limit: presentLimit(limits.executions) },
    storage_bytes: { used: used.storageBytes, limit: presentLimit(limits.storageBytes) },
    workspaces: { used: used.workspaces, limit: limits.workspaces },
  }
}
