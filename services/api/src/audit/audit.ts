import { insertAuditEntry } from '@belfry/db/audit-log'
import type { AnyTransaction } from '@belfry/db/postgres/in-transaction'
import type { AuditAction, auditRights } from '@belfry/domain/audit-action'
import type { Granted } from '../auth/authorize.ts'

/** The caller of an action, with the right to it; `right` is null where the action does not need one of the table. */
export type Auditor<A extends AuditAction> = (Granted<(typeof auditRights)[A]> | { right: null }) & {
  organizationId: string
  workspaceId?: string
  user: { userId: string } | null
  apiKeyId: string | null
  address: string
  /** The agent that acts with the credential, by the name that it gives itself. */
  agent?: string | undefined
}

/**
 * Records an action of a caller in the audit log, in the transaction of the action.
 * @param objectId - The public id of the object, or the name of a secret.
 * @param details - Never secrets. Optional.
 */
export async function audit<A extends AuditAction>(
  tx: AnyTransaction,
  by: Auditor<A>,
  action: A,
  objectId: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { organizationId, workspaceId = null, apiKeyId, address, agent } = by
  const who = { organizationId, workspaceId, userId: by.user?.userId ?? null, apiKeyId, address }
  const told = agent === undefined ? details : { ...details, agent }
  await insertAuditEntry(tx, { ...who, action, objectId, details: told })
}

/** Returns the changed members of an object with their old and new values, for the details of an action, or null. */
export function changesBetween<T extends Record<string, unknown>>(before: T, after: T): Record<string, unknown> | null {
  const changed = Object.keys(before).filter(key => before[key] !== after[key])
  if (changed.length === 0) return null
  return Object.fromEntries(changed.map(key => [key, { from: before[key], to: after[key] }]))
}
