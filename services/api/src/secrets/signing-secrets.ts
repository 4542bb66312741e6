import { operations } from '@belfry/contract/operations'
import type { SigningSecret as PublicSigningSecret } from '@belfry/contract/secret'
import {
  maxSigningSecrets,
  readSigningSecrets,
  revokeSigningSecret as revoke,
  rotateSigningSecret as rotate,
  type SigningSecret,
} from '@belfry/db/secrets/signing-secrets'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { publicKeyOf } from '@belfry/vault'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { created } from '../http/reply.ts'

/** Returns all signing secrets as one page, the current one first: a workspace has few of them. */
export const listSigningSecrets = endpoint(operations.listSigningSecrets, async (ctx, { caller }) => {
  const found = await readSigningSecrets(ctx.pool, ctx.config.masterKeys, [caller.workspaceId])
  return { data: (found.get(caller.workspaceId) ?? []).map(presentSigningSecret), next_cursor: null }
})

/** Returns the public form of a signing secret, with its value: receivers need it. */
function presentSigningSecret(secret: SigningSecret): PublicSigningSecret {
  return {
    id: toId('sec', secret.id),
    workspace_id: toId('ws', secret.workspaceId),
    secret: secret.value,
    public_key: publicKeyOf(secret.seed),
    created_at: secret.createdAt.toISOString(),
    expires_at: secret.expiresAt?.toISOString() ?? null,
  }
}

/** Returns the public keys of a workspace to every caller that knows its id, because receivers have no account. */
export const listSigningKeys = endpoint(operations.listSigningKeys, async (ctx, { params: { ws: id } }) => {
  const workspace = await ctx.prisma.workspace.findFirst({ where: { id, deletedAt: null }, select: { id: true } })
  if (!workspace) throw notFound()
  const found = await readSigningSecrets(ctx.pool, ctx.config.masterKeys, [id])
  const data = (found.get(id) ?? []).map(presentSigningSecret)
  return { data: data.map(({ public_key, expires_at }) => ({ public_key, expires_at })), next_cursor: null }
})

export const rotateSigningSecret = endpoint(operations.rotateSigningSecret, async (ctx, { caller }) => {
  const owner = { workspaceId: caller.workspaceId }
  const result = await rotate(ctx.pool, ctx.config.masterKeys, owner, (tx, { id }) =>
    audit(tx, caller, { action: 'signing_secret.rotated', objectId: toId('sec', id) }),
  )
  const presented = presentSigningSecret(requireRotated(result))
  return created(`/api/v1/workspaces/${presented.workspace_id}/signing-secrets/${presented.id}`, presented)
})

/** Returns the new secret. @throws AppError when there is no such owner, or when it has too many secrets. */
export function requireRotated(result: SigningSecret | 'full' | null): SigningSecret {
  if (result === null) throw notFound()
  if (result !== 'full') return result
  const advice = 'Revoke an old one, or wait until one has expired.'
  throw new AppError('conflict', `${maxSigningSecrets} signing secrets are already in use. ${advice}`)
}

export const revokeSigningSecret = endpoint(operations.revokeSigningSecret, async (ctx, { caller, params }) => {
  const owner = { workspaceId: caller.workspaceId }
  const result = await revoke(ctx.pool, owner, params.secret, tx =>
    audit(tx, caller, { action: 'signing_secret.revoked', objectId: toId('sec', params.secret) }),
  )
  requireRevoked(result)
})

/** @throws AppError unless a secret was revoked. */
export function requireRevoked(result: 'revoked' | 'current' | 'unknown'): void {
  if (result === 'unknown') throw notFound()
  if (result === 'revoked') return
  throw new AppError('conflict', 'This is the current signing secret. Create a new one first, then revoke this one.')
}
