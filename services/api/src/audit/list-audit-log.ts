import type { AuditEntry, exportAuditLogQuery } from '@belfry/contract/audit-entry'
import { operations } from '@belfry/contract/operations'
import { type AuditRow, presentAuditEntry, selectAuditEntries } from '@belfry/db/audit-log'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { fromId, type IdKind, toId } from '@belfry/domain/id'
import type { z } from 'zod'
import { authorizeAgain } from '../auth/authorize.ts'
import { endpoint } from '../endpoint.ts'
import { isExactly, isOnPage, readBounded, type Scan, type Where, where } from '../http/bounded-page.ts'
import { type Columns, exportResponse, members } from '../http/export.ts'
import { readCursor, toPage } from '../http/page.ts'

export const listAuditLog = endpoint(operations.listAuditLog, async (ctx, { caller, query }) => {
  const list = `audit-log:${caller.organizationId}`
  const after = readCursor(list, query)
  const filter = where()
  filter.and('a.organization_id = ?', caller.organizationId)
  if (after) filter.and('a.id < ?', after)
  addFilters(filter, query)
  const text = `${selectAuditEntries} WHERE ${filter.text} ORDER BY a.id DESC LIMIT ${query.limit + 1}`
  const { rows } = await ctx.pool.query<AuditRow>(text, filter.values)
  const page = toPage(list, query, rows, presentAuditEntry)
  return { ...page, data: await withNames(ctx.pool, caller.organizationId, page.data) }
})

export const exportAuditLog = endpoint(operations.exportAuditLog, async (ctx, { caller, params, query, request }) => {
  const along = where()
  along.and(isExactly('a.organization_id', '?::uuid'), caller.organizationId, caller.organizationId)
  const rest = where(along)
  addFilters(rest, query)
  const scan: Scan = {
    streams: '(VALUES (1)) AS key (value)',
    streamCount: 1,
    table: 'audit_log',
    alias: 'a',
    order: 'a.organization_id, a.id DESC',
    along,
    rest,
    read: `${selectAuditEntries} WHERE ${isOnPage('a.id')}`,
  }
  const present = presentAuditEntry
  const read = (after: string | undefined, limit: number) => readBounded<AuditRow>(ctx, scan, after, limit)
  const check = () => authorizeAgain(ctx, request, 'audit_log.read', params)
  const content = { name: 'audit-log', format: query.format, read, present, columns, check }
  return exportResponse<AuditRow, AuditEntry>(request, caller.organizationId, content)
})

const columns: Columns<AuditEntry> = {
  ...members('id', 'created_at', 'action', 'object_id', 'workspace_id'),
  user_id: entry => entry.actor.user_id,
  email: entry => entry.actor.email,
  api_key_id: entry => entry.actor.api_key_id,
  ...members('address'),
  details: entry => JSON.stringify(entry.details),
}

const inWorkspaces = (kind: IdKind, table: string, name: string) => `
  UNION ALL
  SELECT '${kind}', o.id, o.${name} FROM ${table} o JOIN workspaces w ON w.id = o.workspace_id
  WHERE o.id = ANY ($2) AND w.organization_id = $1`

// Each part names the organization, because the ids in details may come from a caller.
const namesText = `
  SELECT 'user' AS kind, u.id, u.name FROM users u JOIN memberships m ON m.user_id = u.id
  WHERE u.id = ANY ($2::uuid[]) AND m.organization_id = $1
  UNION ALL
  SELECT 'org', id, name FROM organizations WHERE id = ANY ($2) AND id = $1
  UNION ALL
  SELECT 'ws', id, name FROM workspaces WHERE id = ANY ($2) AND organization_id = $1
  UNION ALL
  SELECT 'inv', id, email FROM invitations WHERE id = ANY ($2) AND organization_id = $1
  UNION ALL
  SELECT 'task', t.id, r.name FROM tasks t JOIN task_requests r ON r.task_id = t.id
  JOIN workspaces w ON w.id = t.workspace_id
  WHERE t.id = ANY ($2) AND w.organization_id = $1
  ${inWorkspaces('key', 'api_keys', 'name')}
  ${inWorkspaces('cron', 'cron_jobs', 'name')}
  ${inWorkspaces('sub', 'subscriptions', 'topic')}
  ${inWorkspaces('int', 'integrations', 'name')}
  ${inWorkspaces('fed', 'federated_credentials', 'name')}`

/** Adds the names of the objects of an organization whose ids are in the entries. */
async function withNames(pool: Db, organizationId: string, entries: readonly AuditEntry[]) {
  const idsOf = (entry: AuditEntry) => JSON.stringify(entry).match(/\b[a-z]{2,4}_[0-9a-hjkmnp-tv-z]{26}\b/g) ?? []
  const uuids = entries.flatMap(idsOf).flatMap(id => fromId(id.slice(0, id.indexOf('_')) as IdKind, id) ?? [])
  const values = [organizationId, [...new Set(uuids)]]
  const { rows } = await pool.query<{ kind: IdKind; id: string; name: string }>(namesText, values)
  const names = new Map(rows.map(({ kind, id, name }) => [toId(kind, id), name]))
  return entries.map(entry => {
    const own = idsOf(entry).flatMap(id => {
      const name = names.get(id)
      return name === undefined ? [] : [[id, name]]
    })
    return { ...entry, names: Object.fromEntries(own) }
  })
}

function addFilters(filter: Where, query: Omit<z.infer<typeof exportAuditLogQuery>, 'format'>): void {
  if (query.action) filter.and('a.action = ANY (?::text[])', query.action)
  if (query.user_id) filter.and('a.user_id = ANY (?::uuid[])', query.user_id)
  if (query.workspace_id) filter.and('a.workspace_id = ANY (?::uuid[])', query.workspace_id)
  if (query.object_id) filter.and('a.object_id = ANY (?::text[])', query.object_id)
  if (query.from) filter.and('a.created_at >= ?', query.from)
  if (query.to) filter.and('a.created_at < ?', query.to)
}
