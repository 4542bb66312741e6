import type { Usage } from '@belfry/contract'
import type { Usage as UsedAmounts } from '@belfry/db'
import { presentPeriod } from '../billing/present-subscription.ts'
import type { Context } from '../context.ts'

/** What an organization has used of its tier, without the single days. */
export function presentUsage({ config }: Context, used: UsedAmounts): Omit<Usage, 'daily'> {
  const limits = config.tiers[used.tier]
  return {
    period: presentPeriod(used.now),
    executions: { used: used.executions, limit: limits.executions },
    storage_bytes: { used: used.storageBytes, limit: limits.storageBytes },
    workspaces: { used: used.workspaces, limit: limits.workspaces },
  }
}
