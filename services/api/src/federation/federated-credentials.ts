import { createHash } from 'node:crypto'
import type { FederatedCredential } from '@belfry/contract/federated-credential'
import { operations } from '@belfry/contract/operations'
import type { FederatedCredential as StoredCredential } from '@belfry/db/generated/client'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError, notFound } from '@belfry/domain/app-error'
import type { ClaimConditions } from '@belfry/domain/claim-conditions'
import { newUuid, toId } from '@belfry/domain/id'
import { isWideKey } from '@belfry/domain/permissions'
import type { Request } from 'express'
import { grantedScopes, storeApiKey } from '../api-keys/api-keys.ts'
import { audit } from '../audit/audit.ts'
import { forgetApiKeys } from '../auth/api-key.ts'
import { callerAddress } from '../auth/caller-address.ts'
import { suspended } from '../auth/find-user.ts'
import { requireStepUp } from '../auth/second-factors.ts'
import { consumeRequest } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { inspectTarget } from '../http/inspect-target.ts'
import { logCaller } from '../http/request-log.ts'
import { created } from '../http/response.ts'
import { endMcpSubscriptionsOf } from '../mcp-events-2026-07-28/end-mcp-subscriptions.ts'
import { lockWorkspace } from '../workspaces/workspaces.ts'
import { refusal, verifyToken } from './verify-token.ts'

const maxCredentials = 20

// Credentials cannot be changed: the scopes would come from one user and the conditions from another.
export const createFederatedCredential = endpoint(operations.createFederatedCredential, {
  inspect: (ctx, body) => inspectTarget(ctx, body, 'issuer'),
  async handle(ctx, { caller, body }) {
    const { workspaceId, user, actor } = caller
    const { name, issuer, audience = ctx.config.publicUrl, conditions, lifetime_ms: lifetimeMs } = body
    const scopes = grantedScopes(actor, body.scopes)
    if (isWideKey(scopes)) await requireStepUp(ctx, user)
    const row = await ctx.prisma.$transaction(async tx => {
      await lockWorkspace(tx, caller)
      if ((await tx.federatedCredential.count({ where: { workspaceId } })) >= maxCredentials) {
        throw new AppError('conflict', `A workspace may have at most ${maxCredentials} federated credentials.`)
      }
      const id = newUuid()
      const values = { name, issuer, audience, conditions, scopes }
      const details = { ...values, lifetime_ms: lifetimeMs }
      await audit(tx, caller, 'federated_credential.created', toId('fed', id), details)
      const data = { id, workspaceId, ...values, lifetimeMs, createdBy: user.userId }
      return tx.federatedCredential.create({ data, omit })
    })
    return created(`/api/v1/workspaces/${toId('ws', workspaceId)}/federated-credentials`, present(row))
  },
})

/** Returns all federated credentials as one page: a workspace has few of them. */
export const listFederatedCredentials = endpoint(operations.listFederatedCredentials, async (ctx, { caller }) => {
  const { workspaceId } = caller
  const rows = await ctx.prisma.federatedCredential.findMany({
    where: { workspaceId },
    orderBy: { id: 'desc' },
    omit,
  })
  return { data: rows.map(present), next_cursor: null }
})

export const getFederatedCredential = endpoint(operations.getFederatedCredential, async (ctx, { caller, params }) => {
  const { workspaceId } = caller
  const row = await ctx.prisma.federatedCredential.findFirst({ where: { id: params.fed, workspaceId }, omit })
  return row && present(row)
})

// Other processes may have its keys in their caches for five seconds more.
export const deleteFederatedCredential = endpoint(
  operations.deleteFederatedCredential,
  async (ctx, { caller, params }) => {
    const { fed: id } = params
    const { workspaceId } = caller
    await ctx.prisma.$transaction(async tx => {
      await lockWorkspace(tx, caller)
      const row = await tx.federatedCredential.findFirst({ where: { id, workspaceId }, omit })
      if (!row) throw notFound()
      await tx.federatedCredential.delete({ where: { id } })
      const revoked = await tx.apiKey.updateManyAndReturn({
        where: { workspaceId, federatedCredentialId: id, revokedAt: null },
        data: { revokedAt: new Date(ctx.clock.now()) },
        select: { id: true },
      })
      for (const { id: keyId } of revoked) await endMcpSubscriptionsOf(tx, { workspaceId, keyId, endsAt: null })
      await audit(tx, caller, 'federated_credential.deleted', toId('fed', id), {
        name: row.name,
        issuer: row.issuer,
        revoked_keys: revoked.length,
      })
    })
    forgetApiKeys(ctx.apiKeys, key => key.workspaceId === workspaceId)
  },
)

const omit = { keys: true, keysReadAt: true, keysMessageId: true, keysOrderedAt: true } as const

function present(row: Omit<StoredCredential, keyof typeof omit>): FederatedCredential {
  return {
    id: toId('fed', row.id),
    workspace_id: toId('ws', row.workspaceId),
    name: row.name,
    issuer: row.issuer,
    audience: row.audience,
    conditions: row.conditions as ClaimConditions, // as it was stored above
    scopes: row.scopes,
    lifetime_ms: row.lifetimeMs,
    created_by: toId('user', row.createdBy),
    created_at: row.createdAt.toISOString(),
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
  }
}

/** How many keys of jobs may be in force in a workspace. They do not count for the limit of its tier. */
const maxJobKeys = 1_000

// A token is counted before it is checked, and refunded unless it is refused.
export const exchangeToken = endpoint(operations.exchangeToken, async (ctx, { body, request }) => {
  const attempt = await consumeRequest(ctx, 'token exchange', callerAddress(request))
  let isRefused = false
  try {
    return await exchange(ctx, request, body)
  } catch (error) {
    isRefused = error instanceof AppError && error.code === 'unauthenticated'
    throw error
  } finally {
    if (!isRefused) await attempt.refund()
  }
})

async function exchange(ctx: Context, request: Request, body: { federated_credential_id: string; token: string }) {
  const credential = await findCredential(ctx, body.federated_credential_id)
  if (!credential) throw refusal('There is no such federated credential.')
  const { id, workspaceId, organizationId, name, issuer, scopes, createdBy } = credential
  logCaller(request, { organizationId, workspaceId })
  const { subject, expiresAt: tokenEnds } = await verifyToken(ctx, credential, body.token)
  if (credential.isSuspended) throw suspended('workspace')
  const keyId = newUuid()
  return ctx.prisma.$transaction(async tx => {
    await lockWorkspace(tx, { workspaceId, organizationId })
    const now = ctx.clock.now()
    const used = await tx.federatedCredential.updateMany({ where: { id }, data: { lastUsedAt: new Date(now) } })
    if (used.count === 0) throw refusal('There is no such federated credential.')
    await useToken(tx, body.token, tokenEnds)
    await refuseOverJobKeys(tx, workspaceId, now)
    const expiresAt = new Date(now + credential.lifetimeMs)
    const address = callerAddress(request)
    const by = { organizationId, workspaceId, user: null, apiKeyId: keyId, address, right: null }
    const job = { federatedCredentialId: id, subject }
    const row = { id: keyId, workspaceId, name, createdBy, scopes, expiresAt, allowedRanges: [], ...job }
    const details = { federated_credential: toId('fed', id), issuer, subject }
    return storeApiKey(ctx, tx, by, row, details, 'api_key.exchanged')
  })
}

async function findCredential(ctx: Context, id: string) {
  const row = await ctx.prisma.federatedCredential.findFirst({
    where: { id, workspace: { deletedAt: null } },
    omit,
    include: { workspace: { select: { organizationId: true } } },
  })
  if (!row) return null
  const { workspace, conditions, ...rest } = row
  const { rowCount } = await ctx.pool.query('SELECT FROM suspended_workspaces WHERE id = $1', [row.workspaceId])
  // The conditions are as they were stored.
  return { ...rest, ...workspace, conditions: conditions as ClaimConditions, isSuspended: rowCount === 1 }
}

/**
 * Uses a token up. The hash is of the signed part: a signature may have several forms.
 * @throws AppError `unauthenticated` when the token was used before.
 */
async function useToken(tx: PrismaTransaction, token: string, expiresAt: Date): Promise<void> {
  const signed = token.slice(0, token.lastIndexOf('.'))
  const hash = createHash('sha256').update(signed).digest()
  // The clock of an issuer may differ, so a token is remembered for a while longer.
  const { count } = await tx.exchangedToken.createMany({
    data: { hash, expiresAt: new Date(expiresAt.getTime() + 300_000) },
    skipDuplicates: true,
  })
  if (count === 0) throw refusal('The token has been exchanged already: each works once.')
}

async function refuseOverJobKeys(tx: PrismaTransaction, workspaceId: string, now: number): Promise<void> {
  const { _count: count, _min: first } = await tx.apiKey.aggregate({
    where: { workspaceId, federatedCredentialId: { not: null }, revokedAt: null, expiresAt: { gt: new Date(now) } },
    _count: true,
    _min: { expiresAt: true },
  })
  if (count < maxJobKeys) return
  const retryAfterMs = (first.expiresAt?.getTime() ?? now) - now + 1
  const message = `At most ${maxJobKeys} API keys of jobs may be valid in a workspace. Wait until some expire.`
  throw new AppError('rate_limited', message, { retryAfterMs })
}
