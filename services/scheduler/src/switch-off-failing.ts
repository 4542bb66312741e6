import { findAudience } from '@belfry/db/integrations/notify-integrations'
import { type FailingEndpoint, switchOffFailing as switchOff } from '@belfry/db/integrations/switch-off-failing'
import type { Transaction } from '@belfry/db/postgres/in-transaction'
import { toId } from '@belfry/domain/id'
import { failingMail } from '@belfry/messages'
import type { Context } from './context.ts'
import { mailOwners, storeAlert } from './store-alert.ts'

/**
 * Warns of cron jobs and subscriptions that have only failed for days, and switches them off later. Owners get a mail, and
 * integrations an alert.
 * @returns How many it warned of or switched off.
 */
export async function switchOffFailing(ctx: Context): Promise<number> {
  const found = await switchOff(ctx.pool, (tx, endpoint) => storeMessages(tx, endpoint, ctx.publicUrl))
  if (found > 0) ctx.log.info({ endpoints: found }, 'endpoints.failing')
  return found
}

async function storeMessages(tx: Transaction, endpoint: FailingEndpoint, publicUrl: string | null): Promise<void> {
  const { organizationId, workspaceId, isOff, kind, name } = endpoint
  const event = isOff ? 'endpoint.switched_off' : 'endpoint.failing'
  const audience = await findAudience(tx, organizationId, event)
  if (!audience) return
  const workspace = { id: toId('ws', workspaceId), name: endpoint.workspaceName }
  const page = kind === 'cron' ? `cron-jobs/${toId('cron', endpoint.id)}` : 'subscriptions'
  const url = publicUrl && `${publicUrl}/${audience.slug}/w/${workspace.id}/${page}`
  const facts = { ...endpoint, organization: audience.name, page: url }
  await mailOwners(tx, organizationId, audience.owners, event, owner => failingMail(owner, facts))
  const items = [{ id: toId(kind, endpoint.id), name }]
  for (const integration of audience.integrations.filter(one => one.workspaceId === workspaceId)) {
    await storeAlert(tx, integration, { event, at: new Date().toISOString(), workspace, count: 1, items })
  }
}
