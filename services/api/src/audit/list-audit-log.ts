import { type AuditEntry, auditEntry, exportAuditLogQuery, listAuditLogQuery, pageOf } from '@belfry/contract'
import { type AuditRow, presentAuditEntry, selectAuditEntries } from '@belfry/db'
import type { z } from 'zod'
import { endpoint } from '../endpoint.ts'
import { isExactly, isOnPage, readBounded, type Scan } from '../http/bounded-page.ts'
import { type Cell, exportReply, exportTypes } from '../http/export.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { type Where, where } from '../http/where.ts'

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
    addFilters(filter, query)
    const text = `${selectAuditEntries} WHERE ${filter.text} ORDER BY a.id DESC LIMIT ${query.limit + 1}`
    const { rows } = await ctx.pool.query<AuditRow>(text, filter.values)
    return ok(toPage(list, query, rows, presentAuditEntry))
  },
})

export const exportAuditLog = endpoint({
  right: 'audit_log.read',
  summary: 'Export the audit log as CSV or JSON Lines, newest first',
  answer: { status: 200, texts: exportTypes },
  params: { org: 'org' },
  query: exportAuditLogQuery,
  async handle(ctx, { caller, query }) {
    const along = where()
    along.and(isExactly('a.organization_id', '?::uuid'), caller.organizationId, caller.organizationId)
    const rest = where(along)
    addFilters(rest, query)
    const scan: Scan = {
      ...{ streams: '(VALUES (1)) AS key (value)', streamCount: 1, table: 'audit_log', alias: 'a' },
      ...{ order: 'a.organization_id, a.id DESC', along, rest },
      read: `${selectAuditEntries} WHERE ${isOnPage('a.id')}`,
    }
    const present = presentAuditEntry
    const read = (after: string | undefined, limit: number) => readBounded<AuditRow>(ctx, scan, after, limit)
    return exportReply<AuditRow, AuditEntry>({ name: 'audit-log', format: query.format, read, present, columns })
  },
})

const columns: Readonly<Record<string, (entry: AuditEntry) => Cell>> = {
  id: entry => entry.id,
  created_at: entry => entry.created_at,
  action: entry => entry.action,
  object_id: entry => entry.object_id,
  workspace_id: entry => entry.workspace_id,
  user_id: entry => entry.actor.user_id,
  email: entry => entry.actor.email,
  api_key_id: entry => entry.actor.api_key_id,
  address: entry => entry.address,
  details: entry => JSON.stringify(entry.details),
}

type Filters = Omit<z.infer<typeof exportAuditLogQuery>, 'format'>

function addFilters(filter: Where, query: Filters): void {
  if (query.action) filter.and('a.action = ANY (?::text[])', query.action)
  if (query.user_id) filter.and('a.user_id = ANY (?::uuid[])', query.user_id)
  if (query.workspace_id) filter.and('a.workspace_id = ANY (?::uuid[])', query.workspace_id)
  if (query.object_id) filter.and('a.object_id = ANY (?::text[])', query.object_id)
  if (query.from) filter.and('a.created_at >= ?', query.from)
  if (query.to) filter.and('a.created_at < ?', query.to)
}
