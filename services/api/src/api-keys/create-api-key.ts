import { createApiKeyBody, newApiKey } from '@belfry/contract'
import { type AppError, newUuid, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { createApiKeyText } from '../auth/api-key.ts'
import { endpoint } from '../http/endpoint.ts'
import { invalid } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { readQuota, refuseOverCount } from '../quotas/quotas.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'
import { presentApiKey } from './present-api-key.ts'

export const createApiKey = endpoint({
  right: 'api_key.create',
  summary: 'Create an API key',
  answer: { status: 201, body: newApiKey },
  refusals: ['quota_exceeded'],
  params: { ws: 'ws' },
  body: createApiKeyBody,
  async handle(ctx, { caller, body: { name, expires_at } }) {
    const { workspaceId, organizationId, user } = caller
    const expiresAt = expires_at ?? null
    if (expiresAt && expiresAt.getTime() <= ctx.clock.now()) throw expiryNotFuture()
    const { key, prefix, hash } = createApiKeyText()
    const id = newUuid()
    const quota = await readQuota(ctx, organizationId)
    const row = await ctx.prisma.$transaction(async tx => {
      await lockWorkspace(tx, caller)
      const inForce = { workspaceId, revokedAt: null }
      refuseOverCount(quota, 'apiKeys', await tx.apiKey.count({ where: inForce }))
      const details = { name, prefix, expires_at: expiresAt?.toISOString() ?? null }
      await audit(tx, caller, { action: 'api_key.created', objectId: toId('key', id), details })
      return tx.apiKey.create({ data: { id, workspaceId, name, prefix, hash, createdBy: user.userId, expiresAt } })
    })
    const presented = presentApiKey(row)
    return created(`/api/v1/workspaces/${presented.workspace_id}/api-keys/${presented.id}`, { ...presented, key })
  },
})

function expiryNotFuture(): AppError {
  const error = { path: 'expires_at', code: 'not_future', message: 'expires_at must be in the future.' }
  return invalid('body', [error])
}
