import { type CreateApiKeyBody, createApiKeyBody, newApiKey } from '@belfry/contract/api-key'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import { type Actor, isWideKey, scopesOfKeyBy } from '@belfry/domain/permissions'
import { type Auditor, audit } from '../audit/audit.ts'
import { createApiKeyText } from '../auth/api-key.ts'
import { requireStepUp } from '../auth/second-factors.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { invalid } from '../http/refusals.ts'
import { created, type Reply } from '../http/reply.ts'
import { readQuota, refuseOverCount } from '../quotas/quotas.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'
import { type ApiKeyRow, presentApiKey } from './present-api-key.ts'

const dayMs = 86_400_000

export const createApiKey = endpoint({
  right: 'api_key.create',
  summary: 'Create an API key, with at most the rights of the user who creates it',
  answer: { status: 201, body: newApiKey },
  refusals: ['quota_exceeded', 'step_up_required'],
  params: { ws: 'ws' },
  body: createApiKeyBody,
  async handle(ctx, { caller, body }) {
    const { workspaceId, organizationId, user, actor } = caller
    const quota = await readQuota(ctx, organizationId)
    const scopes = grantedScopes(actor, body.scopes)
    if (isWideKey(scopes)) await requireStepUp(ctx, user)
    const { row, key } = await ctx.prisma.$transaction(async tx => {
      await lockWorkspace(tx, caller)
      const expiresAt = await expiryOf(ctx, tx, organizationId, body.expires_at)
      refuseOverCount(quota, 'apiKeys', await tx.apiKey.count({ where: inForce(ctx, workspaceId) }))
      const { name, allowed_ranges: allowedRanges = [] } = body
      return storeApiKey(ctx, tx, caller, {
        id: newUuid(),
        workspaceId,
        name,
        createdBy: user.userId,
        expiresAt,
        scopes,
        allowedRanges,
        ...ofUser,
      })
    })
    return presentNewApiKey(row, key)
  },
})

/** The columns of a key that a user created. */
export const ofUser = { federatedCredentialId: null, subject: null }

/** Returns the condition of the API keys of a workspace that users created and that are in force. */
export function inForce({ clock }: Context, workspaceId: string) {
  const unexpired = [{ expiresAt: null }, { expiresAt: { gt: new Date(clock.now()) } }]
  return { workspaceId, federatedCredentialId: null, revokedAt: null, OR: unexpired }
}

/** Returns the scopes of a key that a user creates. Throws `forbidden` when the user lacks a right that the key must have. */
export function grantedScopes(actor: Actor, wanted: CreateApiKeyBody['scopes']): string[] {
  const { scopes, refused } = scopesOfKeyBy(actor, wanted)
  if (refused.length > 0) throw new AppError('forbidden', `You cannot grant what you lack: ${refused.join(', ')}.`)
  if (scopes.length === 0) throw new AppError('forbidden', `You have none of the rights of ${wanted?.join(', ')}.`)
  return scopes
}

/**
 * Returns the end of a new key: the wanted one, or by default the latest time that the organization allows.
 * @throws AppError `validation_failed` when it is past, or later than `max_api_key_days` allows.
 */
export async function expiryOf(
  { clock }: Context,
  tx: PrismaTransaction,
  organizationId: string,
  wanted: Date | null | undefined,
): Promise<Date | null> {
  const { maxApiKeyDays } = await tx.organization.findUniqueOrThrow({
    where: { id: organizationId },
    select: { maxApiKeyDays: true },
  })
  const now = clock.now()
  if (wanted && wanted.getTime() <= now) throw wrongExpiry('not_future', 'must be in the future.')
  if (maxApiKeyDays === null) return wanted ?? null
  const last = new Date(now + maxApiKeyDays * dayMs)
  if (wanted === undefined) return last
  // A minute for the clock of the caller.
  if (wanted !== null && wanted.getTime() <= last.getTime() + 60_000) return wanted
  throw wrongExpiry('too_late', `must be within ${maxApiKeyDays} days: the policy of the organization limits it.`)
}

function wrongExpiry(code: string, rest: string): AppError {
  return invalid('body', [{ path: 'expires_at', code, message: `expires_at ${rest}` }])
}

type NewRow = Omit<ApiKeyRow, 'prefix' | 'createdAt' | 'lastUsedAt' | 'revokedAt' | 'lastUsedAddress'>

/** Stores a new API key, and records it in the audit log. Returns its row, and the key itself. */
export async function storeApiKey(
  { clock }: Context,
  tx: PrismaTransaction,
  caller: Auditor,
  row: NewRow,
  details: Record<string, unknown> = {},
  action: 'api_key.created' | 'api_key.exchanged' = 'api_key.created',
): Promise<{ row: ApiKeyRow; key: string }> {
  const { key, prefix, hash } = createApiKeyText()
  const { name, scopes, expiresAt, allowedRanges: allowed_ranges } = row
  await audit(tx, caller, {
    action,
    objectId: toId('key', row.id),
    details: { name, prefix, expires_at: expiresAt?.toISOString() ?? null, scopes, allowed_ranges, ...details },
  })
  // By default, Prisma would take the clock of this process.
  const createdAt = new Date(clock.now())
  return { row: await tx.apiKey.create({ data: { ...row, createdAt, prefix, hash } }), key }
}

/** Returns the response with a new API key. */
export function presentNewApiKey(row: ApiKeyRow, key: string): Reply {
  const presented = presentApiKey(row)
  return created(`/api/v1/workspaces/${presented.workspace_id}/api-keys/${presented.id}`, { ...presented, key })
}
