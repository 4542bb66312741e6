import { newApiKey, rollApiKeyBody } from '@belfry/contract/api-key'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import { decide, isWideKey, rightsOfScopes } from '@belfry/domain/permissions'
import { audit } from '../audit/audit.ts'
import { forgetApiKeys } from '../auth/api-key-caches.ts'
import { requireStepUp } from '../auth/second-factors.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { readQuota, refuseOverCount } from '../quotas/quotas.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'
import { expiryOf, inForce, ofUser, presentNewApiKey, storeApiKey } from './create-api-key.ts'
import type { ApiKeyRow } from './present-api-key.ts'

const defaultOverlapMs = 86_400_000

export const rollApiKey = endpoint({
  right: 'api_key.create',
  summary: 'Replace an API key; the previous one stays valid for a while',
  answer: { status: 201, body: newApiKey },
  refusals: ['quota_exceeded', 'conflict', 'step_up_required'],
  params: { ws: 'ws', key: 'key' },
  body: rollApiKeyBody,
  async handle(ctx, { caller, params, body }) {
    const { workspaceId, organizationId, user, actor } = caller
    const quota = await readQuota(ctx, organizationId)
    const { row, key } = await ctx.prisma.$transaction(async tx => {
      await lockWorkspace(tx, caller)
      const old = await tx.apiKey.findFirst({ where: { id: params.key, workspaceId } })
      if (!old) throw notFound()
      if (old.federatedCredentialId) {
        throw new AppError(
          'conflict',
          'A job gets a new API key in exchange for another token: this one cannot be rolled.',
        )
      }
      if (isWideKey(old.scopes)) await requireStepUp(ctx, user)
      const missing = [...rightsOfScopes(old.scopes)].filter(right => !decide(actor, right).allowed)
      if (missing.length > 0) throw new AppError('forbidden', `You lack rights of this key: ${missing.join(', ')}.`)
      const others = { ...inForce(ctx, workspaceId), id: { not: old.id } }
      refuseOverCount(quota, 'apiKeys', await tx.apiKey.count({ where: others }))
      await endSoon(ctx, tx, old, body.overlap_ms ?? defaultOverlapMs)
      const { name, scopes, allowedRanges, prefix } = old
      const next = { id: newUuid(), workspaceId, name, createdBy: user.userId, scopes, allowedRanges, ...ofUser }
      const limit = await expiryOf(ctx, tx, organizationId, body.expires_at)
      const expiresAt = body.expires_at === undefined ? earlier(sameLifetime(ctx, old), limit) : limit
      const details = { name, prefix, next: toId('key', next.id), overlap_ms: body.overlap_ms ?? defaultOverlapMs }
      await audit(tx, caller, { action: 'api_key.rolled', objectId: toId('key', old.id), details })
      return storeApiKey(ctx, tx, caller, { ...next, expiresAt }, { replaces: toId('key', old.id) })
    })
    forgetApiKeys(ctx.apiKeys, cached => cached.keyId === params.key)
    return presentNewApiKey(row, key)
  },
})

function sameLifetime({ clock }: Context, { createdAt, expiresAt }: ApiKeyRow): Date | null {
  return expiresAt && new Date(clock.now() + expiresAt.getTime() - createdAt.getTime())
}

function earlier(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

// Of several concurrent requests one finds the key in force.
async function endSoon(ctx: Context, tx: PrismaTransaction, old: ApiKeyRow, overlapMs: number): Promise<void> {
  const now = new Date(ctx.clock.now())
  const end = new Date(now.getTime() + overlapMs)
  const data = overlapMs === 0 ? { revokedAt: now } : { expiresAt: earlier(old.expiresAt, end) }
  const { count } = await tx.apiKey.updateMany({ where: { ...inForce(ctx, old.workspaceId), id: old.id }, data })
  if (count === 0) throw new AppError('conflict', 'The API key has expired or was revoked: create a new one.')
}
