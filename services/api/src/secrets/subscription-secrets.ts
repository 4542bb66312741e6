import { operations } from '@belfry/contract/operations'
import type { SubscriptionSecret } from '@belfry/contract/secret'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import {
  readSubscriptionSecrets,
  removeSubscriptionSecrets as remove,
  revokeSigningSecret as revoke,
  rotateSigningSecret as rotate,
  type SigningSecret,
} from '@belfry/db/secrets/signing-secrets'
import { toId } from '@belfry/domain/id'
import { audit } from '../audit/audit.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { requireRevoked, requireRotated } from './signing-secrets.ts'

/** Returns all signing secrets of a subscription as one page, the current one first: it has few of them. */
export const listSubscriptionSecrets = endpoint(
  operations.listSubscriptionSecrets,
  async (ctx, { caller, params: { sub } }) => {
    await requireSubscription(ctx, caller.workspaceId, sub)
    const found = await readSubscriptionSecrets(ctx.pool, ctx.config.masterKeys, [sub])
    return { data: (found.get(sub) ?? []).map(present), next_cursor: null }
  },
)

export const rotateSubscriptionSecret = endpoint(
  operations.rotateSubscriptionSecret,
  async (ctx, { caller, params: { sub } }) => {
    const owner = { workspaceId: caller.workspaceId, subscriptionId: sub }
    const result = await rotate(ctx.pool, ctx.config.masterKeys, owner, (tx, { id }) =>
      audit(tx, caller, { action: 'signing_secret.rotated', objectId: toId('sec', id), details: detailsOf(sub) }),
    )
    const presented = present(requireRotated(result))
    return created(`/api/v1/scheduler/subscriptions/${toId('sub', sub)}/signing-secrets/${presented.id}`, presented)
  },
)

export const revokeSubscriptionSecret = endpoint(
  operations.revokeSubscriptionSecret,
  async (ctx, { caller, params: { sub, secret } }) => {
    const owner = { workspaceId: caller.workspaceId, subscriptionId: sub }
    const result = await revoke(ctx.pool, owner, secret, tx =>
      audit(tx, caller, { action: 'signing_secret.revoked', objectId: toId('sec', secret), details: detailsOf(sub) }),
    )
    requireRevoked(result)
  },
)

export const removeSubscriptionSecrets = endpoint(
  operations.removeSubscriptionSecrets,
  async (ctx, { caller, params: { sub } }) => {
    const { workspaceId } = caller
    await requireSubscription(ctx, workspaceId, sub)
    await inTransaction(ctx.pool, async tx => {
      const count = await remove(tx, { workspaceId, subscriptionId: sub })
      const details = { secrets: count }
      if (count > 0) await audit(tx, caller, { action: 'signing_secret.revoked', objectId: toId('sub', sub), details })
    })
  },
)

const detailsOf = (subscriptionId: string) => ({ subscription: toId('sub', subscriptionId) })

async function requireSubscription({ prisma }: Context, workspaceId: string, id: string): Promise<void> {
  if ((await prisma.subscription.count({ where: { id, workspaceId } })) === 0) throw notFound()
}

function present({ id, value, createdAt, expiresAt }: SigningSecret): SubscriptionSecret {
  return {
    id: toId('sec', id),
    secret: value,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt?.toISOString() ?? null,
  }
}
