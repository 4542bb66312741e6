import { createApiKeyBody, newApiKey } from '@belfry/contract'
import { AppError, newUuid, toId } from '@belfry/domain'
import { createApiKeyText } from '../auth/api-key.ts'
import { endpoint } from '../http/endpoint.ts'
import { created } from '../http/reply.ts'
import { refuseOverCount } from '../quotas/refuse-over-count.ts'

export const createApiKey = endpoint({
  right: 'api_key.create',
  summary: 'Create an API key',
  answer: { status: 201, body: newApiKey },
  refusals: ['quota_exceeded'],
  params: { ws: 'ws' },
  body: createApiKeyBody,
  async handle(ctx, { caller, body }) {
    const { workspaceId, organizationId, user } = caller
    const expiresAt = body.expires_at ?? null
    if (expiresAt && expiresAt.getTime() <= ctx.clock.now()) throw expiryNotFuture()
    const inForce = { workspaceId, revokedAt: null }
    await refuseOverCount(ctx, organizationId, 'apiKeys', () => ctx.prisma.apiKey.count({ where: inForce }))
    const { key, prefix, hash } = createApiKeyText()
    const row = await ctx.prisma.apiKey.create({
      data: { id: newUuid(), workspaceId, name: body.name, prefix, hash, createdBy: user.userId, expiresAt },
    })
    const id = toId('key', row.id)
    return created(`/api/v1/workspaces/${toId('ws', workspaceId)}/api-keys/${id}`, {
      id,
      workspace_id: toId('ws', workspaceId),
      name: row.name,
      prefix,
      created_by: toId('user', user.userId),
      created_at: row.createdAt.toISOString(),
      last_used_at: null,
      expires_at: row.expiresAt?.toISOString() ?? null,
      revoked_at: null,
      key,
    })
  },
})

function expiryNotFuture(): AppError {
  const error = { path: 'expires_at', code: 'not_future', message: 'expires_at must lie in the future.' }
  return new AppError('validation_failed', 'The body has faults; see errors.', { errors: [error] })
}
