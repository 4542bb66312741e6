import { createHash } from 'node:crypto'
import { operations } from '@belfry/contract/operations'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import type { ClaimConditions } from '@belfry/domain/claim-conditions'
import { newUuid, toId } from '@belfry/domain/id'
import { presentNewApiKey, storeApiKey } from '../api-keys/api-keys.ts'
import { callerAddress } from '../auth/caller-address.ts'
import { suspended } from '../auth/refuse-suspended.ts'
import { consumeTokenExchange } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { logCaller } from '../http/request-log.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'
import { RefusedTokenError, verifyToken } from './verify-token.ts'

/** How many keys of jobs may be in force in a workspace. They do not count for the limit of its tier. */
const maxJobKeys = 1_000

export const exchangeToken = endpoint(operations.exchangeToken, async (ctx, { body, request }) => {
  const address = callerAddress(request)
  const attempt = await consumeTokenExchange(ctx, address)
  const found = await findCredential(ctx, body.federated_credential_id)
  if (!found) throw refusal('There is no such federated credential.')
  const { credential, organizationId } = found
  const { id, workspaceId, name, issuer, scopes, createdBy } = credential
  logCaller(request, { organizationId, workspaceId })
  const { subject, expiresAt: tokenEnds } = await verifyToken(ctx, credential, body.token).catch(cause => {
    throw cause instanceof RefusedTokenError ? refusal(cause.message, cause) : cause
  })
  if (found.isSuspended) throw suspended('workspace')
  const keyId = newUuid()
  const { row, key } = await ctx.prisma.$transaction(async tx => {
    await lockWorkspace(tx, { workspaceId, organizationId })
    const now = ctx.clock.now()
    const used = await tx.federatedCredential.updateMany({ where: { id }, data: { lastUsedAt: new Date(now) } })
    if (used.count === 0) throw refusal('There is no such federated credential.')
    await useToken(tx, body.token, tokenEnds)
    await refuseOverJobKeys(tx, workspaceId, now)
    const expiresAt = new Date(now + credential.lifetimeMs)
    const rights = { scopes, expiresAt, allowedRanges: [] }
    const by = { organizationId, workspaceId, user: null, apiKeyId: keyId, address, right: null }
    const job = { federatedCredentialId: id, subject }
    return storeApiKey(
      ctx,
      tx,
      by,
      { id: keyId, workspaceId, name, createdBy, ...rights, ...job },
      { federated_credential: toId('fed', id), issuer, subject },
      'api_key.exchanged',
    )
  })
  await attempt.refund()
  return presentNewApiKey(row, key)
})

function refusal(message: string, cause?: unknown): AppError {
  return new AppError('unauthenticated', message, { cause })
}

async function findCredential(ctx: Context, id: string) {
  const row = await ctx.prisma.federatedCredential.findFirst({
    where: { id, workspace: { deletedAt: null } },
    select: {
      id: true,
      workspaceId: true,
      name: true,
      issuer: true,
      audience: true,
      conditions: true,
      scopes: true,
      lifetimeMs: true,
      createdBy: true,
      workspace: { select: { organizationId: true } },
    },
  })
  if (!row) return null
  const { workspace, conditions, ...rest } = row
  const { rowCount } = await ctx.pool.query('SELECT FROM suspended_workspaces WHERE id = $1', [row.workspaceId])
  return {
    credential: { ...rest, conditions: conditions as ClaimConditions }, // as it was stored
    organizationId: workspace.organizationId,
    isSuspended: rowCount === 1,
  }
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
