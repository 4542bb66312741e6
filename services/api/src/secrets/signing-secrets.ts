import { operations } from '@belfry/contract/operations'
import type { SigningSecret as PublicSigningSecret, SubscriptionSecret } from '@belfry/contract/secret'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import {
  maxSigningSecrets,
  readSigningSecrets,
  readSubscriptionSecrets,
  removeSubscriptionSecrets as remove,
  revokeSigningSecret as revoke,
  rotateSigningSecret as rotate,
  type SecretOwner,
  type SigningSecret,
} from '@belfry/db/secrets/signing-secrets'
import { AppError, notFound } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { publicKeyOf } from '@belfry/vault'
import { audit } from '../audit/audit.ts'
import type { Allowed } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { created } from '../http/response.ts'

// Each list is one page, the current secret first: a workspace or a subscription has few of them.
export const listSigningSecrets = endpoint(operations.listSigningSecrets, async (ctx, { caller }) => {
  const found = await readSigningSecrets(ctx.pool, ctx.config.masterKeys, [caller.workspaceId])
  return { data: (found.get(caller.workspaceId) ?? []).map(presentSigningSecret), next_cursor: null }
})

/** Returns the public keys of a workspace to every caller that knows its id, because receivers have no account. */
export const listSigningKeys = endpoint(operations.listSigningKeys, async (ctx, { params: { ws: id } }) => {
  const workspace = await ctx.prisma.workspace.findFirst({ where: { id, deletedAt: null }, select: { id: true } })
  if (!workspace) return null
  const found = await readSigningSecrets(ctx.pool, ctx.config.masterKeys, [id])
  const data = (found.get(id) ?? []).map(presentSigningSecret)
  return { data: data.map(({ public_key, expires_at }) => ({ public_key, expires_at })), next_cursor: null }
})

export const rotateSigningSecret = endpoint(operations.rotateSigningSecret, async (ctx, { caller }) => {
  const secret = await rotateOf(ctx, caller)
  return created(`/api/v1/workspaces/${toId('ws', secret.workspaceId)}/signing-secrets`, presentSigningSecret(secret))
})

export const revokeSigningSecret = endpoint(operations.revokeSigningSecret, (ctx, { caller, params: { secret } }) =>
  revokeOf(ctx, caller, secret),
)

export const listSubscriptionSecrets = endpoint(operations.listSubscriptionSecrets, async (ctx, { caller, params }) => {
  const { sub } = params
  await requireSubscription(ctx, caller.workspaceId, sub)
  const found = await readSubscriptionSecrets(ctx.pool, ctx.config.masterKeys, [sub])
  return { data: (found.get(sub) ?? []).map(presentSubscriptionSecret), next_cursor: null }
})

export const rotateSubscriptionSecret = endpoint(
  operations.rotateSubscriptionSecret,
  async (ctx, { caller, params }) => {
    const { sub } = params
    const secret = presentSubscriptionSecret(await rotateOf(ctx, caller, sub))
    return created(`/api/v1/scheduler/subscriptions/${toId('sub', sub)}/signing-secrets`, secret)
  },
)

export const revokeSubscriptionSecret = endpoint(
  operations.revokeSubscriptionSecret,
  (ctx, { caller, params: { sub, secret } }) => revokeOf(ctx, caller, secret, sub),
)

export const removeSubscriptionSecrets = endpoint(
  operations.removeSubscriptionSecrets,
  async (ctx, { caller, params }) => {
    const { sub } = params
    const { workspaceId } = caller
    await requireSubscription(ctx, workspaceId, sub)
    await inTransaction(ctx.pool, async tx => {
      const count = await remove(tx, { workspaceId, subscriptionId: sub })
      if (count > 0) await audit(tx, caller, 'signing_secret.revoked', toId('sub', sub), { secrets: count })
    })
  },
)

/** Makes a new secret of the workspace, or of one of its subscriptions. */
async function rotateOf(ctx: Context, caller: Allowed<'signing_secret.rotate'>, subscriptionId?: string) {
  const { owner, details } = ownerOf(caller, subscriptionId)
  const result = await rotate(ctx.pool, ctx.config.masterKeys, owner, (tx, { id }) =>
    audit(tx, caller, 'signing_secret.rotated', toId('sec', id), details),
  )
  if (result === null) throw notFound()
  if (result !== 'full') return result
  const advice = 'Revoke an old one, or wait until one has expired.'
  throw new AppError('conflict', `${maxSigningSecrets} signing secrets are already in use. ${advice}`)
}

async function revokeOf(ctx: Context, caller: Allowed<'signing_secret.revoke'>, id: string, subscriptionId?: string) {
  const { owner, details } = ownerOf(caller, subscriptionId)
  const result = await revoke(ctx.pool, owner, id, tx =>
    audit(tx, caller, 'signing_secret.revoked', toId('sec', id), details),
  )
  if (result === 'unknown') throw notFound()
  if (result === 'revoked') return
  throw new AppError('conflict', 'This is the current signing secret. Create a new one first, then revoke this one.')
}

function ownerOf({ workspaceId }: Allowed, subscriptionId: string | undefined) {
  const owner: SecretOwner = subscriptionId === undefined ? { workspaceId } : { workspaceId, subscriptionId }
  return { owner, details: subscriptionId === undefined ? {} : { subscription: toId('sub', subscriptionId) } }
}

async function requireSubscription({ prisma }: Context, workspaceId: string, id: string): Promise<void> {
  if ((await prisma.subscription.count({ where: { id, workspaceId } })) === 0) throw notFound()
}

/** Returns the public form of a signing secret, with its value: receivers need it. */
function presentSigningSecret(secret: SigningSecret): PublicSigningSecret {
  const { id, secret: value, ...times } = presentSubscriptionSecret(secret)
  return {
    id,
    workspace_id: toId('ws', secret.workspaceId),
    secret: value,
    public_key: publicKeyOf(secret.seed),
    ...times,
  }
}

function presentSubscriptionSecret({ id, value, createdAt, expiresAt }: SigningSecret): SubscriptionSecret {
  return {
    id: toId('sec', id),
    secret: value,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt?.toISOString() ?? null,
  }
}
