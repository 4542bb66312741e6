import { type AnyTransaction, insertAuditEntry } from '@belfry/db/audit-log'
import type { AuditAction } from '@belfry/domain/audit-action'

/** The caller of an action, as `authorize` returns it. */
export type Auditor = {
  organizationId: string
  workspaceId?: string
  user: { userId: string } | null
  apiKeyId: string | null
  address: string
  /** The agent that acts with the credential, by the name that it gives itself. */
  agent?: string | undefined
}

export type AuditedAction = {
  action: AuditAction
  /** The public id of the object, or the name of a secret. */
  objectId: string
  /** Never secrets. */
  details?: Readonly<Record<string, unknown>>
}

/** Records an action of a caller in the audit log, in the transaction of the action. */
export async function audit(tx: AnyTransaction, by: Auditor, audited: AuditedAction): Promise<void> {
  await insertAuditEntry(tx, {
    organizationId: by.organizationId,
    workspaceId: by.workspaceId ?? null,
    action: audited.action,
    userId: by.user?.userId ?? null,
    apiKeyId: by.apiKeyId,
    address: by.address,
    objectId: audited.objectId,
    details: { ...audited.details, ...(by.agent === undefined ? {} : { agent: by.agent }) },
  })
}
