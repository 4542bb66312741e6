import type { ApiKey, CreateApiKeyBody } from '@belfry/contract/api-key'
import { operations } from '@belfry/contract/operations'
import type { ApiKey as StoredApiKey } from '@belfry/db/generated/client'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError, invalidField, notFound } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import { type Actor, decide, isWideKey, rightsOfScopes, scopesOfKeyBy } from '@belfry/domain/permissions'
import { type Auditor, audit } from '../audit/audit.ts'
import { createApiKeyText, forgetApiKeys } from '../auth/api-key.ts'
import { requireStepUp } from '../auth/second-factors.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { type PageRows, readPage } from '../http/page.ts'
import { type ApiResponse, created } from '../http/response.ts'
import { endMcpSubscriptionsOf } from '../mcp-events-2026-07-28/end-mcp-subscriptions.ts'
import { readQuota, refuseOverCount } from '../quotas/quotas.ts'
import { lockWorkspace } from '../workspaces/workspaces.ts'

export const listApiKeys = endpoint(operations.listApiKeys, async (ctx, { caller: { workspaceId }, query }) => {
  const find = ({ before, take }: PageRows) =>
    ctx.prisma.apiKey.findMany({ where: { workspaceId, id: before }, orderBy: { id: 'desc' }, take })
  return readPage(`api-keys:${workspaceId}`, query, find, presentApiKey)
})

// Other processes may have the key in their caches for five seconds more.
export const revokeApiKey = endpoint(operations.revokeApiKey, async (ctx, { caller, params: { key: id } }) => {
  const { workspaceId, user, actor } = caller
  await ctx.prisma.$transaction(async tx => {
    const found = await tx.apiKey.findFirst({ where: { id, workspaceId } })
    if (!found) throw notFound()
    const { name, prefix, scopes, createdBy } = found
    if (createdBy !== user.userId) requireRightsOf(actor, scopes)
    const revokedAt = new Date(ctx.clock.now())
    const { count } = await tx.apiKey.updateMany({ where: { id, workspaceId, revokedAt: null }, data: { revokedAt } })
    if (count > 0) await audit(tx, caller, 'api_key.revoked', toId('key', id), { name, prefix })
    await endMcpSubscriptionsOf(tx, { workspaceId, keyId: id, endsAt: null })
  })
  forgetApiKeys(ctx.apiKeys, key => key.keyId === id)
})

// A user who may create keys is not thereby above the keys of others.
function requireRightsOf(actor: Actor, scopes: readonly string[]): void {
  const missing = [...rightsOfScopes(scopes)].filter(right => !decide(actor, right).allowed)
  if (missing.length > 0) throw new AppError('forbidden', `You lack rights of this key: ${missing.join(', ')}.`)
}

const dayMs = 86_400_000

export const createApiKey = endpoint(operations.createApiKey, async (ctx, { caller, body }) => {
  const { workspaceId, organizationId, user, actor } = caller
  const quota = await readQuota(ctx, organizationId)
  const scopes = grantedScopes(actor, body.scopes)
  if (isWideKey(scopes)) await requireStepUp(ctx, user)
  return ctx.prisma.$transaction(async tx => {
    await lockWorkspace(tx, caller)
    const expiresAt = await expiryOf(ctx, tx, organizationId, body.expires_at)
    refuseOverCount(quota, 'apiKeys', await tx.apiKey.count({ where: inForce(ctx, workspaceId) }))
    const { name, allowed_ranges: allowedRanges = [] } = body
    const row = { id: newUuid(), workspaceId, name, createdBy: user.userId, expiresAt, scopes, allowedRanges }
    return storeApiKey(ctx, tx, caller, row)
  })
})

/** Returns the condition of the API keys of a workspace that users created and that are in force. */
function inForce({ clock }: Context, workspaceId: string) {
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
async function expiryOf(
  { clock }: Context,
  tx: PrismaTransaction,
  organizationId: string,
  wanted: Date | null | undefined,
): Promise<Date | null> {
  const { maxApiKeyDays } = await tx.organization.findUniqueOrThrow({ where: { id: organizationId } })
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
  return invalidField('expires_at', code, `expires_at ${rest}`)
}

type NewRow = Pick<ApiKeyRow, 'id' | 'workspaceId' | 'name' | 'createdBy' | 'scopes' | 'expiresAt' | 'allowedRanges'> &
  Partial<Pick<ApiKeyRow, 'federatedCredentialId' | 'subject'>> // of a key that a job got

/** Stores a new API key, and records it in the audit log. Returns the response with it. */
export async function storeApiKey(
  { clock }: Context,
  tx: PrismaTransaction,
  caller: Auditor<'api_key.created' | 'api_key.exchanged'>,
  row: NewRow,
  details: Record<string, unknown> = {},
  action: 'api_key.created' | 'api_key.exchanged' = 'api_key.created',
): Promise<ApiResponse> {
  const { key, prefix, hash } = createApiKeyText()
  const { name, scopes, expiresAt, allowedRanges: allowed_ranges } = row
  await audit(tx, caller, action, toId('key', row.id), {
    name,
    prefix,
    expires_at: expiresAt?.toISOString() ?? null,
    scopes,
    allowed_ranges,
    ...details,
  })
  // By default, Prisma would take the clock of this process.
  const createdAt = new Date(clock.now())
  const stored = await tx.apiKey.create({ data: { ...row, createdAt, prefix, hash } })
  return created(`/api/v1/workspaces/${toId('ws', row.workspaceId)}/api-keys`, { ...presentApiKey(stored), key })
}

const defaultOverlapMs = 86_400_000

export const rollApiKey = endpoint(operations.rollApiKey, async (ctx, { caller, params, body }) => {
  const { workspaceId, organizationId, user, actor } = caller
  const quota = await readQuota(ctx, organizationId)
  const response = await ctx.prisma.$transaction(async tx => {
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
    requireRightsOf(actor, old.scopes)
    const others = { ...inForce(ctx, workspaceId), id: { not: old.id } }
    refuseOverCount(quota, 'apiKeys', await tx.apiKey.count({ where: others }))
    await endSoon(ctx, tx, old, body.overlap_ms ?? defaultOverlapMs)
    const { name, scopes, allowedRanges, prefix } = old
    const next = { id: newUuid(), workspaceId, name, createdBy: user.userId, scopes, allowedRanges }
    const limit = await expiryOf(ctx, tx, organizationId, body.expires_at)
    const lifetimeMs = lifetimeOf(old)
    const withSameLifetime = lifetimeMs === 0 ? null : new Date(ctx.clock.now() + lifetimeMs)
    const expiresAt = body.expires_at === undefined ? earlier(withSameLifetime, limit) : limit
    await audit(tx, caller, 'api_key.rolled', toId('key', old.id), {
      name,
      prefix,
      next: toId('key', next.id),
      overlap_ms: body.overlap_ms ?? defaultOverlapMs,
    })
    return storeApiKey(ctx, tx, caller, { ...next, expiresAt }, { replaces: toId('key', old.id) })
  })
  forgetApiKeys(ctx.apiKeys, cached => cached.keyId === params.key)
  return response
})

// An earlier roll has shortened the time until `expiresAt`.
function lifetimeOf({ createdAt, expiresAt, lifetimeMs }: ApiKeyRow): number {
  return Number(lifetimeMs ?? (expiresAt ? expiresAt.getTime() - createdAt.getTime() : 0))
}

function earlier(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

// Of several concurrent requests one finds the key in force.
async function endSoon(ctx: Context, tx: PrismaTransaction, old: ApiKeyRow, overlapMs: number): Promise<void> {
  const now = new Date(ctx.clock.now())
  const end = new Date(now.getTime() + overlapMs)
  const shortened = { expiresAt: earlier(old.expiresAt, end), lifetimeMs: lifetimeOf(old) }
  const data = overlapMs === 0 ? { revokedAt: now } : shortened
  const { count } = await tx.apiKey.updateMany({ where: { ...inForce(ctx, old.workspaceId), id: old.id }, data })
  if (count === 0) throw new AppError('conflict', 'The API key has expired or was revoked: create a new one.')
  await endMcpSubscriptionsOf(tx, { workspaceId: old.workspaceId, keyId: old.id, endsAt: overlapMs === 0 ? null : end })
}

type ApiKeyRow = Omit<StoredApiKey, 'hash'>

function presentApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: toId('key', row.id),
    workspace_id: toId('ws', row.workspaceId),
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    allowed_ranges: row.allowedRanges,
    federated_credential_id: row.federatedCredentialId && toId('fed', row.federatedCredentialId),
    subject: row.subject,
    created_by: toId('user', row.createdBy),
    created_at: row.createdAt.toISOString(),
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    last_used_address: row.lastUsedAddress,
    expires_at: row.expiresAt?.toISOString() ?? null,
    revoked_at: row.revokedAt?.toISOString() ?? null,
  }
}
