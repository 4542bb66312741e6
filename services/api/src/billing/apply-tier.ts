import { changeTier, findOwners, type TierChanger } from '@belfry/db/organizations/organizations'
import type { Transaction } from '@belfry/db/postgres/in-transaction'
import type { TierName } from '@belfry/domain/tiers'
import { type Mail, type TierFacts, tierMail } from '@belfry/messages'
import { addMail } from '../account/account-mail.ts'
import type { Context } from '../context.ts'

/** Changes the tier of an organization, from the next claim on, and notifies its owners by mail. */
export async function applyTier(
  ctx: Context,
  tx: Transaction,
  organizationId: string,
  tier: TierName,
  by: TierChanger,
  why?: TierFacts['why'],
): Promise<void> {
  const from = await changeTier(tx, organizationId, tier, by)
  if (from === null) return
  await mailOwners(ctx, tx, organizationId, 'tier changed', (to, facts) =>
    tierMail(to, { ...facts, from, to: tier, why }),
  )
}

export async function mailOwners(
  ctx: Context,
  tx: Transaction,
  organizationId: string,
  label: string,
  write: (to: string, facts: { organization: string; url: string }) => Mail,
): Promise<void> {
  const organization = await findOwners(tx, organizationId)
  if (!organization) return
  const facts = { organization: organization.name, url: `${ctx.config.publicUrl}/${organization.slug}/settings/usage` }
  for (const owner of organization.owners) {
    await addMail(tx, label, write(owner, facts), { tenant: { organizationId } })
  }
}
