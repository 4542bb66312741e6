import { findQuotaAudience, type Transaction } from '@belfry/db'
import { toId } from '@belfry/domain'
import { type QuotaCrossing, quotaMail } from '@belfry/messages'
import { storeAlert, storeMessage } from './store-alert.ts'

/**
 * Tells the owners of an organization by mail, and the integrations of its workspaces, that it has used so much of a
 * quota, in the transaction that records it.
 */
export async function tellOfQuota(
  tx: Transaction,
  crossing: { organizationId: string; resource: QuotaCrossing['quota']; percent: number; crossedAt: Date },
  publicUrl: string | null,
): Promise<void> {
  const { organizationId, resource, percent, crossedAt } = crossing
  const event = percent >= 100 ? 'quota.reached' : 'quota.warning'
  const audience = await findQuotaAudience(tx, organizationId, event)
  if (!audience) return
  const url = publicUrl && `${publicUrl}/${audience.slug}`
  const facts = { organization: audience.name, quota: resource, percent, url }
  for (const owner of audience.owners) {
    await storeMessage(tx, 'mail', event, { type: 'mail', mail: quotaMail(owner, facts) })
  }
  for (const integration of audience.integrations) {
    const workspace = { id: toId('ws', integration.workspaceId), name: integration.workspaceName }
    const about = { at: crossedAt.toISOString(), workspace, count: 0, items: [], quota: { resource, percent } }
    await storeAlert(tx, integration, { event, ...about })
  }
}
