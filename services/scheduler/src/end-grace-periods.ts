import { endGracePeriods as end } from '@belfry/db/billing/billing-accounts'
import { findOwners } from '@belfry/db/organizations/organizations'
import { tierMail } from '@belfry/messages'
import type { Context } from './context.ts'
import { drain } from './drain.ts'
import { mailOwners } from './store-alert.ts'

/**
 * Moves organizations that have not paid within their grace period to the tier `free`, and mails their owners.
 * @returns How many there were.
 */
export function endGracePeriods(ctx: Context, signal: AbortSignal): Promise<number> {
  return drain(signal, 50, batchSize =>
    end(ctx.pool, new Date(ctx.clock.now()), batchSize, async (tx, { organizationId, from }) => {
      const organization = await findOwners(tx, organizationId)
      if (!organization) return
      const { name, slug, owners } = organization
      const url = ctx.publicUrl && `${ctx.publicUrl}/${slug}/settings/usage`
      const facts = { organization: name, url, from, to: 'free', why: 'unpaid' } as const
      await mailOwners(tx, organizationId, owners, 'tier changed', owner => tierMail(owner, facts))
    }),
  )
}
