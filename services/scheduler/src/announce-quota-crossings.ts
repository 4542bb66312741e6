import { findAudience } from '@belfry/db/integrations/notify-integrations'
import type { Transaction } from '@belfry/db/postgres/in-transaction'
import { announceQuotaCrossings as announce } from '@belfry/db/usage/quota-crossings'
import { toId } from '@belfry/domain/id'
import { type QuotaCrossing, quotaMail } from '@belfry/messages'
import type { Context } from './context.ts'
import { drain } from './drain.ts'
import { mailOwners, storeAlert } from './store-alert.ts'

/**
 * Notifies owners by mail, and integrations, of the quotas that have been used up, each once: the transaction that marks
 * a crossing as announced also stores its messages in the outbox.
 * @returns How many crossings were announced.
 */
export function announceQuotaCrossings(ctx: Context, signal: AbortSignal): Promise<number> {
  return drain(signal, 50, batchSize =>
    announce(ctx.pool, batchSize, async (tx, crossings) => {
      for (const crossing of crossings) await storeMessages(tx, crossing, ctx.publicUrl)
    }),
  )
}

async function storeMessages(
  tx: Transaction,
  crossing: { organizationId: string; resource: QuotaCrossing['quota']; percent: number; crossedAt: Date },
  publicUrl: string | null,
): Promise<void> {
  const { organizationId, resource, percent, crossedAt } = crossing
  const event = percent >= 100 ? 'quota.reached' : 'quota.warning'
  const audience = await findAudience(tx, organizationId, event)
  if (!audience) return
  const url = publicUrl && `${publicUrl}/${audience.slug}`
  const facts = { organization: audience.name, quota: resource, percent, url }
  await mailOwners(tx, organizationId, audience.owners, event, owner => quotaMail(owner, facts))
  for (const integration of audience.integrations) {
    const workspace = { id: toId('ws', integration.workspaceId), name: integration.workspaceName }
    const about = { at: crossedAt.toISOString(), workspace, count: 0, items: [], quota: { resource, percent } }
    await storeAlert(tx, integration, { event, ...about })
  }
}
