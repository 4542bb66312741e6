import { type AnyTransaction, insertAuditEntry } from '@belfry/db'
import type { AuditAction } from '@belfry/domain'

/** Who did it, where and from which address: what `authorize` says about a caller. */
export type Auditor = {
  organizationId: string
  workspaceId?: string
  user: { userId: string } | null
  apiKeyId: string | null
  address: string
}

export type Deed = {
  action: AuditAction
  /** What it was done to: its id as callers know it, or the name of a secret. */
  objectId: string
  /** What else a reader wants to know. Never a secret. */
  details?: Readonly<Record<string, unknown>>
}

/** Puts what a caller does on record, in the transaction that does it: neither is there without the other. */
export async function audit(tx: AnyTransaction, by: Auditor, deed: Deed): Promise<void> {
  await insertAuditEntry(tx, {
    organizationId: by.organizationId,
    workspaceId: by.workspaceId ?? null,
    action: deed.action,
    userId: by.user?.userId ?? null,
    apiKeyId: by.apiKeyId,
    address: by.address,
    objectId: deed.objectId,
    details: deed.details ?? {},
  })
}
