import type { FederatedCredential } from '@belfry/contract/federated-credential'
import { operations } from '@belfry/contract/operations'
import type { FederatedCredential as StoredCredential } from '@belfry/db/generated/client'
import { AppError } from '@belfry/domain/app-error'
import type { ClaimConditions } from '@belfry/domain/claim-conditions'
import { newUuid, toId } from '@belfry/domain/id'
import { isWideKey } from '@belfry/domain/permissions'
import { grantedScopes } from '../api-keys/api-keys.ts'
import { audit } from '../audit/audit.ts'
import { forgetApiKeys } from '../auth/api-key-caches.ts'
import { requireStepUp } from '../auth/second-factors.ts'
import { endpoint } from '../endpoint.ts'
import { inspectTarget } from '../http/inspect-target.ts'
import { notFound } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { lockWorkspace } from '../workspaces/lock-workspace.ts'

/** How many federated credentials a workspace may have. */
const maxCredentials = 20

// There is no change: its scopes would be those of one user and its conditions those of another.
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
      await audit(tx, caller, {
        action: 'federated_credential.created',
        objectId: toId('fed', id),
        details: { name, issuer, audience, conditions, scopes, lifetime_ms: lifetimeMs },
      })
      const values = { name, issuer, audience, conditions, scopes, lifetimeMs, createdBy: user.userId }
      return tx.federatedCredential.create({ data: { id, workspaceId, ...values }, omit })
    })
    const presented = present(row)
    return created(`/api/v1/workspaces/${presented.workspace_id}/federated-credentials/${presented.id}`, presented)
  },
})

/** Returns all federated credentials as one page: a workspace has few of them. */
export const listFederatedCredentials = endpoint(
  operations.listFederatedCredentials,
  async (ctx, { caller: { workspaceId } }) => {
    const rows = await ctx.prisma.federatedCredential.findMany({
      where: { workspaceId },
      orderBy: { id: 'desc' },
      omit,
    })
    return { data: rows.map(present), next_cursor: null }
  },
)

export const getFederatedCredential = endpoint(
  operations.getFederatedCredential,
  async (ctx, { caller: { workspaceId }, params: { fed: id } }) => {
    const row = await ctx.prisma.federatedCredential.findFirst({ where: { id, workspaceId }, omit })
    if (!row) throw notFound()
    return present(row)
  },
)

// Other processes may have its keys in their caches for five seconds more.
export const deleteFederatedCredential = endpoint(
  operations.deleteFederatedCredential,
  async (ctx, { caller, params: { fed: id } }) => {
    const { workspaceId } = caller
    await ctx.prisma.$transaction(async tx => {
      await lockWorkspace(tx, caller)
      const row = await tx.federatedCredential.findFirst({ where: { id, workspaceId }, omit })
      if (!row) throw notFound()
      await tx.federatedCredential.delete({ where: { id } })
      const { count } = await tx.apiKey.updateMany({
        where: { workspaceId, federatedCredentialId: id, revokedAt: null },
        data: { revokedAt: new Date(ctx.clock.now()) },
      })
      const details = { name: row.name, issuer: row.issuer, revoked_keys: count }
      await audit(tx, caller, { action: 'federated_credential.deleted', objectId: toId('fed', id), details })
    })
    forgetApiKeys(ctx.apiKeys, key => key.workspaceId === workspaceId)
  },
)

const omit = { keys: true, keysReadAt: true, keysMessageId: true, keysOrderedAt: true } as const

type Row = Omit<StoredCredential, keyof typeof omit>

function present(row: Row): FederatedCredential {
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
