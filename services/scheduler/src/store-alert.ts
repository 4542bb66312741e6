import { addToOutbox, type MessageTenant } from '@belfry/db/outbox/outbox'
import type { Transaction } from '@belfry/db/postgres/in-transaction'
import type { AlertChannel } from '@belfry/domain/alerts'
import { newUuid } from '@belfry/domain/id'
import type { Alert, Mail, Message } from '@belfry/messages'

export function storeAlert(
  tx: Transaction,
  to: { id: string; workspaceId: string; channel: AlertChannel },
  alert: Alert,
): Promise<void> {
  const message: Message = { type: 'alert', workspaceId: to.workspaceId, integrationId: to.id, alert }
  const kind = to.channel === 'email' ? 'mail' : 'webhook'
  return storeMessage(tx, { workspaceId: to.workspaceId }, kind, `alert ${alert.event}`, message)
}

export async function mailOwners(
  tx: Transaction,
  organizationId: string,
  owners: readonly string[],
  label: string,
  mailTo: (owner: string) => Mail,
): Promise<void> {
  for (const owner of owners)
    await storeMessage(tx, { organizationId }, 'mail', label, { type: 'mail', mail: mailTo(owner) })
}

/** Stores a message without encryption. It must not contain credentials. */
async function storeMessage(
  tx: Transaction,
  tenant: MessageTenant,
  kind: 'mail' | 'webhook',
  label: string,
  message: Message,
): Promise<void> {
  await addToOutbox(tx, { id: newUuid(), kind, label, content: JSON.stringify(message), masterKeys: null, tenant })
}
