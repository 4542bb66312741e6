import { type AuditAction, newUuid } from '@belfry/domain'
import type { Prisma } from './postgres/create-prisma.ts'
import type { Transaction } from './postgres/in-transaction.ts'

/** One action of a user or an API key. `details` holds no secret; `objectId` is the id as the API shows it. */
export type NewAuditEntry = {
  organizationId: string
  workspaceId: string | null
  action: AuditAction
  userId: string | null
  apiKeyId: string | null
  address: string
  objectId: string
  details: Readonly<Record<string, unknown>>
}

/** A transaction of `pg` or of Prisma. */
export type AnyTransaction = Transaction | Pick<Prisma, '$executeRawUnsafe'>

/** Stores an audit entry in the transaction of the action. */
export async function insertAuditEntry(tx: AnyTransaction, entry: NewAuditEntry): Promise<void> {
  const text = `
    INSERT INTO audit_log (id, organization_id, workspace_id, action, user_id, api_key_id, address, object_id, details)
    VALUES ($1::uuid, $2::uuid, $3::uuid, $4, $5::uuid, $6::uuid, $7, $8, $9)`
  const values = [
    ...[newUuid(), entry.organizationId, entry.workspaceId, entry.action, entry.userId, entry.apiKeyId],
    ...[entry.address, entry.objectId, JSON.stringify(entry.details)],
  ]
  if ('$executeRawUnsafe' in tx) await tx.$executeRawUnsafe(text, ...values)
  else await tx.query(text, values)
}
