import type { AuditAction } from '@belfry/domain/audit-action'
import { newUuid, toId } from '@belfry/domain/id'
import type { AuditEntry, OperatorEntry } from './generated/client.ts'
import { type AnyTransaction, dbOf } from './postgres/in-transaction.ts'

/** One action of a user or an API key. `details` must not contain secrets. `objectId` is the id as the API shows it. */
export type NewAuditEntry = Omit<AuditEntry, 'id' | 'action' | 'details' | 'createdAt'> & {
  action: AuditAction
  details: Readonly<Record<string, unknown>>
}

export async function insertAuditEntry(tx: AnyTransaction, entry: NewAuditEntry): Promise<void> {
  const text = `
    INSERT INTO audit_log (id, organization_id, workspace_id, action, user_id, api_key_id, address, object_id, details)
    VALUES ($1::uuid, $2::uuid, $3::uuid, $4, $5::uuid, $6::uuid, $7, $8, $9)`
  const values = [
    ...[newUuid(), entry.organizationId, entry.workspaceId, entry.action, entry.userId, entry.apiKeyId],
    ...[entry.address, entry.objectId, JSON.stringify(entry.details)],
  ]
  await dbOf(tx).query(text, values)
}

/** SQL: reads audit entries `a` as rows for `presentAuditEntry`. */
export const selectAuditEntries = `
  SELECT a.id, a.organization_id AS "organizationId", a.action, a.user_id AS "userId", u.email,
         a.api_key_id AS "apiKeyId", a.workspace_id AS "workspaceId", a.object_id AS "objectId", a.address, a.details,
         a.created_at AS "createdAt"
  FROM audit_log a LEFT JOIN users u ON u.id = a.user_id`

export type AuditRow = AuditEntry & { action: AuditAction; email: string | null }

export function presentAuditEntry(row: AuditRow) {
  return {
    id: toId('aud', row.id),
    action: row.action,
    actor: {
      user_id: row.userId && toId('user', row.userId),
      email: row.email,
      api_key_id: row.apiKeyId && toId('key', row.apiKeyId),
    },
    workspace_id: row.workspaceId && toId('ws', row.workspaceId),
    object_id: row.objectId,
    address: row.address,
    details: JSON.parse(row.details) as Record<string, unknown>, // as `insertAuditEntry` stores it
    created_at: row.createdAt.toISOString(),
  }
}

export function presentOperatorEntry({ id, operator, address, action, objectId, details, createdAt }: OperatorEntry) {
  const about = { operator, address, action, object_id: objectId, details: JSON.parse(details) }
  return { id: toId('aud', id), ...about, created_at: createdAt.toISOString() }
}
