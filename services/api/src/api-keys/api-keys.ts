import { type ApiKey, apiKey, createApiKeyBody, listQuery, newApiKey, pageOf } from '@belfry/contract'
import { type AppError, newUuid, scopesOfKeyBy, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { createApiKeyText } from '../auth/api-key.ts'
import { forgetApiKeys } from '../auth/api-key-caches.ts'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { invalid, notFound } from '../http/refusals.ts'
import { created, noContent, ok } from '../http/reply.ts'
import { readQuota, refuseOverCount } from '../quotas/quotas.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'

export const createApiKey = endpoint({
  right: 'api_key.create',
  summary: 'Create an API key, with at most the rights of the user who creates it',
  answer: { status: 201, body: newApiKey },
  refusals: ['quota_exceeded'],
  params: { ws: 'ws' },
  body: createApiKeyBody,
  async handle(ctx, { caller, body: { name, expires_at } }) {
    const { workspaceId, organizationId, user, actor } = caller
    const expiresAt = expires_at ?? null
    if (expiresAt && expiresAt.getTime() <= ctx.clock.now()) throw expiryNotFuture()
    const { key, prefix, hash } = createApiKeyText()
    const id = newUuid()
    const scopes = scopesOfKeyBy(actor)
    const quota = await readQuota(ctx, organizationId)
    const row = await ctx.prisma.$transaction(async tx => {
      await lockWorkspace(tx, caller)
      const inForce = { workspaceId, revokedAt: null }
      refuseOverCount(quota, 'apiKeys', await tx.apiKey.count({ where: inForce }))
      const details = { name, prefix, expires_at: expiresAt?.toISOString() ?? null, scopes }
      await audit(tx, caller, { action: 'api_key.created', objectId: toId('key', id), details })
      const data = { id, workspaceId, name, prefix, hash, createdBy: user.userId, expiresAt, scopes }
      return tx.apiKey.create({ data })
    })
    const presented = presentApiKey(row)
    return created(`/api/v1/workspaces/${presented.workspace_id}/api-keys/${presented.id}`, { ...presented, key })
  },
})

function expiryNotFuture(): AppError {
  const error = { path: 'expires_at', code: 'not_future', message: 'expires_at must be in the future.' }
  return invalid('body', [error])
}

export const listApiKeys = endpoint({
  right: 'api_key.read',
  summary: 'List the API keys of a workspace, including revoked ones',
  answer: { status: 200, body: pageOf(apiKey) },
  params: { ws: 'ws' },
  query: listQuery,
  async handle(ctx, { caller: { workspaceId }, query }) {
    const list = `api-keys:${workspaceId}`
    const after = readCursor(list, query)
    const rows = await ctx.prisma.apiKey.findMany({
      where: { workspaceId, ...(after === undefined ? {} : { id: { lt: after } }) },
      orderBy: { id: 'desc' },
      take: query.limit + 1,
    })
    return ok(toPage(list, query, rows, presentApiKey))
  },
})

// Other processes may have the key in their caches for five seconds more.
export const revokeApiKey = endpoint({
  right: 'api_key.revoke',
  summary: 'Revoke an API key, everywhere within five seconds',
  answer: { status: 204 },
  params: { ws: 'ws', key: 'key' },
  async handle(ctx, { caller, params: { key: id } }) {
    const { workspaceId } = caller
    await ctx.prisma.$transaction(async tx => {
      const row = await tx.apiKey.findFirst({ where: { id, workspaceId }, select: { name: true, prefix: true } })
      if (!row) throw notFound()
      const revokedAt = new Date(ctx.clock.now())
      const { count } = await tx.apiKey.updateMany({ where: { id, workspaceId, revokedAt: null }, data: { revokedAt } })
      if (count > 0) await audit(tx, caller, { action: 'api_key.revoked', objectId: toId('key', id), details: row })
    })
    forgetApiKeys(ctx.apiKeys, key => key.keyId === id)
    return noContent()
  },
})

type ApiKeyRow = {
  id: string
  workspaceId: string
  name: string
  prefix: string
  createdBy: string
  createdAt: Date
  lastUsedAt: Date | null
  expiresAt: Date | null
  revokedAt: Date | null
  scopes: string[]
}

/** Returns the public form of an API key. */
function presentApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: toId('key', row.id),
    workspace_id: toId('ws', row.workspaceId),
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    created_by: toId('user', row.createdBy),
    created_at: row.createdAt.toISOString(),
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    expires_at: row.expiresAt?.toISOString() ?? null,
    revoked_at: row.revokedAt?.toISOString() ?? null,
  }
}
