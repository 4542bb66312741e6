import { findOwners } from '@belfry/db/organizations/organizations'
import { reportUsage as report } from '@belfry/db/usage/report-usage'
import { presentLimit } from '@belfry/domain/tiers'
import { usageMail } from '@belfry/messages'
import type { Context } from './context.ts'
import { drain } from './drain.ts'
import { mailOwners } from './store-alert.ts'

/**
 * Mails the owners of each organization its usage of last month, once.
 * @returns How many organizations were reported.
 */
export function reportUsage(ctx: Context, signal: AbortSignal, now = new Date(ctx.clock.now())): Promise<number> {
  return drain(signal, 50, batchSize =>
    report(ctx.pool, now, batchSize, async (tx, reports) => {
      for (const { organizationId, month, tier, executions, failed, storageBytes } of reports) {
        const organization = await findOwners(tx, organizationId)
        if (!organization) continue
        const limits = ctx.tiers[tier]
        const facts = {
          organization: organization.name,
          url: ctx.publicUrl && `${ctx.publicUrl}/${organization.slug}/settings/usage`,
          month,
          tier,
          executions: { used: executions, limit: presentLimit(limits.executions) },
          failed,
          storageBytes: { used: storageBytes, limit: presentLimit(limits.storageBytes) },
        }
        await mailOwners(tx, organizationId, organization.owners, 'usage', owner => usageMail(owner, facts))
      }
    }),
  )
}
