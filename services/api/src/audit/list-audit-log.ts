import { type AuditEntry, auditEntry, listAuditLogQuery, pageOf } from '@belfry/contract'
import { type AuditAction, toId } from '@belfry/domain'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { where } from '../http/where.ts'

export const listAuditLog = endpoint({
  right: 'audit_log.read',
  summary: 'List the audit log, newest first',
  answer: { status: 200, body: pageOf(auditEntry) },
  params: { org: 'org' },
  query: listAuditLogQuery,
  async handle(ctx, { caller, query }) {
    const list = `audit-log:${caller.organizationId}`
    const after = readCursor(list, query)
    const filter = where()
    filter.and('a.organization_id = ?', caller.organizationId)
    if (after) filter.and('a.id < ?', after)
    if (query.action) filter.and('a.action = ANY (?::text[])', query.action)
    if (query.user_id) filter.and('a.user_id = ANY (?::uuid[])', query.user_id)
    if (query.workspace_id) filter.and('a.workspace_id = ANY (?::uuid[])', query.workspace_id)
    if (query.object_id) filter.and('a.object_id = ANY (?::text[])', query.object_id)
    if (query.from) filter.and('a.created_at >= ?', query.from)
    if (query.to) filter.and('a.created_at < ?', query.to)
    const text = `
      SELECT a.id, a.action, a.user_id AS "userId", u.email, a.api_key_id AS "apiKeyId", a.workspace_id AS "workspaceId",
             a.object_id AS "objectId", a.address, a.details, a.created_at AS "createdAt"
      FROM audit_log a LEFT JOIN users u ON u.id = a.user_id
      WHERE ${filter.text} ORDER BY a.id DESC LIMIT ${query.limit + 1}`
    const { rows } = await ctx.pool.query<AuditRow>(text, filter.values)
    return ok(toPage(list, query, rows, presentAuditEntry))
  },
})

type AuditRow = {
  id: string
  action: AuditAction
  userId: string | null
  email: string | null
  apiKeyId: string | null
  workspaceId: string | null
  objectId: string
  address: string
  details: string
  createdAt: Date
}

function presentAuditEntry(row: AuditRow): AuditEntry {
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
    details: JSON.parse(row.details),
    created_at: row.createdAt.toISOString(),
  }
}
