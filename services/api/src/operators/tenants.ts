import type { Operation, ResponseBody } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import type { suspensionBody, Tenant, TenantDetail } from '@belfry/contract/operator'
import { presentOperatorEntry } from '@belfry/db/audit-log'
import {
  blockAddress as block,
  listBlockedAddresses as list,
  unblockAddress as unblock,
} from '@belfry/db/outbox/mail-blocks'
import { type AnyTransaction, dbOf, inTransaction } from '@belfry/db/postgres/in-transaction'
import { hostOfUrl, waitsForTime } from '@belfry/db/tasks/task-row'
import { usedExecutions } from '@belfry/db/usage/execution-blocks'
import { notFound } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import { presentLimit, type TierName, tierNames } from '@belfry/domain/tiers'
import { forgetApiKeys } from '../auth/api-key.ts'
import { requireStepUp } from '../auth/second-factors.ts'
import { applyTier } from '../billing/apply-tier.ts'
import { endpoint } from '../endpoint.ts'
import { where } from '../http/bounded-page.ts'
import { given } from '../http/given.ts'
import { type PageRows, readCursor, readPage, toPage } from '../http/page.ts'

export const listTenants = endpoint(operations.listTenants, async (ctx, { query }) => {
  const after = readCursor('tenants', query)
  const filter = where()
  filter.and('o.deleted_at IS NULL')
  if (after) filter.and('o.id < ?', after)
  if (query.suspended) filter.and(`(o.suspended_at IS NOT NULL) = ?`, query.suspended === 'true')
  if (query.search) filter.and(`(o.name || ' ' || o.slug || ' ' || ${ownerAddresses}) ILIKE ?`, like(query.search))
  const order = query.sort ? `${sortColumns[query.sort]} DESC NULLS LAST, o.id DESC` : 'o.id DESC'
  const text = `${tenantColumns} WHERE ${filter.text} ORDER BY ${order} LIMIT ${query.limit + 1}`
  const { rows } = await ctx.pool.query<TenantRow>(text, filter.values)
  if (query.sort) return { data: rows.slice(0, query.limit).map(presentTenant), next_cursor: null }
  return toPage('tenants', query, rows, presentTenant)
})

const maxDue = 10_000

export const getTenant = endpoint(operations.getTenant, async (ctx, { params }) => {
  const { rows } = await ctx.pool.query<TenantRow>(`${tenantColumns} WHERE o.id = $1 AND o.deleted_at IS NULL`, [
    params.org,
  ])
  if (!rows[0]) throw notFound()
  const workspaces = await ctx.pool.query<WorkspaceRow>(
    `SELECT id, name, ${inFlightOf('w.id')} AS in_flight, suspended_at, created_at
       FROM workspaces w WHERE organization_id = $1 AND deleted_at IS NULL ORDER BY id LIMIT 1000`,
    [params.org],
  )
  const members = await ctx.pool.query<MemberRow>(
    `SELECT u.id AS user_id, u.email, u.name, m.role,
              EXISTS (SELECT FROM passkeys p WHERE p.user_id = u.id)
                OR EXISTS (SELECT FROM totp_factors t WHERE t.user_id = u.id AND t.confirmed_at IS NOT NULL) AS has_second_factor,
              u.suspended_at
       FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.organization_id = $1
       ORDER BY m.joined_at, u.id LIMIT 1000`,
    [params.org],
  )
  const due = await ctx.pool.query<{ tasks: number }>(
    `SELECT count(*)::int AS tasks FROM (
       SELECT FROM workspaces w CROSS JOIN LATERAL (
         SELECT FROM tasks WHERE workspace_id = w.id AND ${waitsForTime} AND due_at <= now() LIMIT ${maxDue}
       ) t WHERE w.organization_id = $1 LIMIT ${maxDue}
     ) counted`,
    [params.org],
  )
  return {
    ...presentTenant(rows[0]),
    due_tasks: due.rows[0]?.tasks ?? 0,
    tier_limits: tierNames.map(tier => {
      const { executions, storageBytes } = ctx.config.tiers[tier]
      return { tier, executions: presentLimit(executions), storage_bytes: presentLimit(storageBytes) }
    }),
    workspace_list: workspaces.rows.map(row => {
      const times = { suspended_at: row.suspended_at?.toISOString() ?? null, created_at: row.created_at.toISOString() }
      return { ...row, id: toId('ws', row.id), ...times }
    }),
    member_list: members.rows.map(row => {
      return { ...row, user_id: toId('user', row.user_id), suspended_at: row.suspended_at?.toISOString() ?? null }
    }),
  }
})

export const setTier = endpoint(operations.setTier, async (ctx, { caller, params: { org }, body: { tier } }) => {
  await requireStepUp(ctx, caller)
  await inTransaction(ctx.pool, async tx => {
    const { rows } = await tx.query<{ tier: TierName }>(
      'SELECT tier FROM organizations WHERE id = $1 AND deleted_at IS NULL',
      [org],
    )
    if (!rows[0]) throw notFound()
    const by = { userId: null, apiKeyId: null, address: '', details: { by: 'operator' } }
    await applyTier(ctx, tx, org, tier, by)
    const details = { from: rows[0].tier, to: tier }
    await recordOperatorAction(tx, caller, { action: 'organization.tier_set', objectId: toId('org', org), details })
  })
  ctx.usageCache.delete(org)
})

const kinds = {
  user: { name: 'user', table: 'users', isDeleted: 'false' },
  org: { name: 'organization', table: 'organizations', isDeleted: 'deleted_at IS NOT NULL' },
  ws: { name: 'workspace', table: 'workspaces', isDeleted: 'deleted_at IS NOT NULL' },
} as const

export const suspendUser = suspension(operations.suspendUser, 'user', 'suspended')
export const resumeUser = suspension(operations.resumeUser, 'user', 'resumed')
export const suspendOrganization = suspension(operations.suspendOrganization, 'org', 'suspended')
export const resumeOrganization = suspension(operations.resumeOrganization, 'org', 'resumed')
export const suspendWorkspace = suspension(operations.suspendWorkspace, 'ws', 'suspended')
export const resumeWorkspace = suspension(operations.resumeWorkspace, 'ws', 'resumed')

type Suspension = Operation & {
  right: 'operator'
  body: typeof suspensionBody
  path: `${string}/:${keyof typeof kinds}/${string}`
}

/** Makes the endpoint that suspends or resumes a user, an organization or a workspace. */
function suspension(operation: Suspension, kind: keyof typeof kinds, change: 'suspended' | 'resumed') {
  const { name, table, isDeleted } = kinds[kind]
  return endpoint(operation, async (ctx, { caller, params, body }) => {
    await requireStepUp(ctx, caller)
    const id = params[kind]
    await inTransaction(ctx.pool, async tx => {
      const { rows } = await tx.query<{ isSuspended: boolean }>(
        `SELECT suspended_at IS NOT NULL AS "isSuspended" FROM ${table} WHERE id = $1 AND NOT (${isDeleted}) FOR UPDATE`,
        [id],
      )
      if (!rows[0]) throw notFound()
      if (rows[0].isSuspended === (change === 'suspended')) return
      const at = change === 'suspended' ? 'now()' : 'NULL'
      await tx.query(`UPDATE ${table} SET suspended_at = ${at} WHERE id = $1`, [id])
      await recordOperatorAction(tx, caller, { action: `${name}.${change}`, objectId: toId(kind, id), details: body })
    })
    forgetApiKeys(ctx.apiKeys, () => true)
  })
}

export const findTargets = endpoint(operations.findTargets, async (ctx, { query: { host } }) => {
  const { rows } = await ctx.pool.query<Target>({ text: targetsStatement, values: [host.toLowerCase()] })
  return {
    data: rows.map(row => {
      const ids = { workspace_id: toId('ws', row.workspace_id), organization_id: toId('org', row.organization_id) }
      return { ...row, ...ids }
    }),
  }
})

export const listOperatorLog = endpoint(operations.listOperatorLog, async (ctx, { query }) => {
  const find = ({ before, take }: PageRows) =>
    ctx.prisma.operatorEntry.findMany({ where: { id: before }, orderBy: { id: 'desc' }, take })
  return readPage('operator-log', query, find, presentOperatorEntry)
})

// Rows have the names of the public form, with ids of the database and dates.
type Times = { suspended_at: Date | null; created_at: Date }
type TenantRow = Omit<Tenant, 'account' | keyof Times> &
  Times & { accountId: string | null; accountEmail: string | null; accountSuspendedAt: Date | null }
type WorkspaceRow = Omit<TenantDetail['workspace_list'][number], keyof Times> & Times
type MemberRow = Omit<TenantDetail['member_list'][number], 'suspended_at'> & Pick<Times, 'suspended_at'>
type Target = ResponseBody<typeof operations.findTargets>['data'][number]

const ownerAddresses = `coalesce((
  SELECT string_agg(u.email, ' ') FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.organization_id = o.id AND m.role = 'owner'), '')`

const inFlightOf = (workspace: string) =>
  `(SELECT count(*)::int FROM tasks t WHERE t.workspace_id = ${workspace} AND t.state = 'processing')`

const sortColumns = {
  in_flight: 'w.in_flight',
  rate: 'r.per_minute',
  executions: usedExecutions,
  storage: 's.bytes',
  failed_today: 'd.failed',
  mails: 'm.mails',
}

const rateMinutes = 5

const tenantColumns = `
  SELECT o.id, o.name, o.slug, o.tier, o.suspended_at, o.created_at,
         a.id AS "accountId", a.email AS "accountEmail", a.suspended_at AS "accountSuspendedAt",
         w.workspaces, w.in_flight, coalesce(greatest(0, ${usedExecutions}), 0)::float8 AS executions,
         coalesce(greatest(0, s.bytes), 0)::float8 AS storage_bytes, coalesce(d.failed, 0)::float8 AS failed_today,
         r.per_minute AS runs_per_minute, m.mails
  FROM organizations o
  LEFT JOIN LATERAL (
    SELECT u.id, u.email, u.suspended_at FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.organization_id = o.id AND m.role = 'owner' ORDER BY m.joined_at, m.user_id LIMIT 1
  ) a ON true
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS workspaces, coalesce(sum(${inFlightOf('w.id')}), 0)::int AS in_flight
    FROM workspaces w WHERE w.organization_id = o.id AND w.deleted_at IS NULL
  ) w
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(total), 0)::float8 / ${rateMinutes} AS per_minute
    FROM run_statistics s JOIN workspaces w ON w.id = s.workspace_id
    WHERE w.organization_id = o.id AND s.period = 1 AND s.starts_at < date_trunc('minute', now())
      AND s.starts_at >= date_trunc('minute', now()) - ${rateMinutes} * interval '1 minute'
  ) r
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS mails FROM outbox b
    WHERE b.organization_id = o.id AND b.kind = 'mail' AND b.created_at > now() - interval '1 day'
  ) m
  LEFT JOIN usage u ON u.organization_id = o.id AND u.month = utc_month(now())
  LEFT JOIN storage s ON s.organization_id = o.id
  LEFT JOIN usage_days d ON d.organization_id = o.id AND d.day = (now() AT TIME ZONE 'UTC')::date`

const targetsStatement = `
  WITH found AS (
    SELECT t.workspace_id, 1 AS tasks, 0 AS cron_jobs, 0 AS subscriptions
    FROM (SELECT task_id, url FROM task_requests ORDER BY task_id DESC LIMIT 100000) r JOIN tasks t ON t.id = r.task_id
    WHERE ${hostOfUrl('r.url')} = $1
    UNION ALL SELECT workspace_id, 0, 1, 0 FROM cron_jobs WHERE ${hostOfUrl('url')} = $1
    UNION ALL SELECT workspace_id, 0, 0, 1 FROM subscriptions WHERE ${hostOfUrl('url')} = $1
  )
  SELECT w.id AS workspace_id, o.id AS organization_id, w.name AS workspace_name, o.name AS organization_name,
         sum(tasks)::int AS tasks, sum(cron_jobs)::int AS cron_jobs, sum(subscriptions)::int AS subscriptions
  FROM found f JOIN workspaces w ON w.id = f.workspace_id JOIN organizations o ON o.id = w.organization_id
  GROUP BY w.id, o.id ORDER BY tasks DESC, w.id LIMIT 100`

function presentTenant(row: TenantRow): Tenant {
  const { accountId, accountEmail: email, accountSuspendedAt, suspended_at, created_at, ...shown } = row
  const account = accountId !== null && email !== null ? { user_id: toId('user', accountId), email } : null
  return {
    ...shown,
    id: toId('org', row.id),
    account: account && { ...account, suspended_at: accountSuspendedAt?.toISOString() ?? null },
    suspended_at: suspended_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  }
}

function like(search: string): string {
  return `%${search.replace(/[\\%_]/g, '\\$&')}%`
}

/** A signed-in operator, and where the request came from. */
type Operator = { email: string; address: string }

type OperatorLogEntry = { action: string; objectId: string; details: Readonly<Record<string, unknown>> }

export async function recordOperatorAction(tx: AnyTransaction, by: Operator, entry: OperatorLogEntry): Promise<void> {
  const text = `
    INSERT INTO operator_log (id, operator, address, action, object_id, details) VALUES ($1::uuid, $2, $3, $4, $5, $6)`
  const { action, objectId, details } = entry
  const values = [newUuid(), by.email, by.address, action, objectId, JSON.stringify(details)]
  await dbOf(tx).query(text, values)
}

export const listBlockedAddresses = endpoint(operations.listBlockedAddresses, async (ctx, { query }) => {
  const find = ({ after, take }: PageRows) =>
    list(ctx.pool, { search: query.search ?? '', before: after ?? null, limit: take })
  return readPage('blocked-addresses', query, find, ({ address, blockedAt }) => {
    return { email: address, blocked_at: blockedAt.toISOString() }
  })
})

export const blockAddress = endpoint(operations.blockAddress, async (ctx, { caller, body }) => {
  const objectId = body.email.toLowerCase()
  await inTransaction(ctx.pool, async tx => {
    if (!(await block(tx, objectId))) return
    const details = given({ reason: body.reason })
    await recordOperatorAction(tx, caller, { action: 'address.blocked', objectId, details })
  })
})

export const unblockAddress = endpoint(operations.unblockAddress, async (ctx, { caller, body }) => {
  const objectId = body.email.toLowerCase()
  await inTransaction(ctx.pool, async tx => {
    if (!(await unblock(tx, objectId))) throw notFound()
    await recordOperatorAction(tx, caller, { action: 'address.unblocked', objectId, details: {} })
  })
})
