import { insertAuditEntry } from '@belfry/db/audit-log'
import type { Transaction } from '@belfry/db/postgres/in-transaction'
import type { AuditAction } from '@belfry/domain/audit-action'

export type OperatorAction = { workspaceId: string; action: AuditAction; address: string }

/** Records an action of an operator in the audit log of a workspace's organization, once for each object. */
export async function auditAsOperator(
  tx: Transaction,
  by: OperatorAction,
  objectIds: readonly string[],
): Promise<void> {
  const text = 'SELECT organization_id AS id FROM workspaces WHERE id = $1'
  const { rows } = await tx.query<{ id: string }>(text, [by.workspaceId])
  const entry = { ...by, userId: null, apiKeyId: null, details: { by: 'operator' } }
  for (const objectId of objectIds) {
    await insertAuditEntry(tx, { ...entry, organizationId: rows[0]?.id ?? by.workspaceId, objectId })
  }
}
