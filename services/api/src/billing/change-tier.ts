import { changeTierBody, organizationSubscription } from '@belfry/contract'
import { readUsage } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { ok } from '../http/reply.ts'
import { presentSubscription } from './present-subscription.ts'

export const changeTier = endpoint({
  right: 'billing.change',
  summary: 'Choose the tier of an organization',
  answer: { status: 200, body: organizationSubscription },
  params: { org: 'org' },
  body: changeTierBody,
  async handle(ctx, { caller, body }) {
    const change = await ctx.billing.changeTier(ctx, caller, body.tier)
    const usage = await readUsage(ctx.pool, caller.organizationId)
    if (!usage) throw notFound()
    const subscription = presentSubscription(ctx, usage.tier)
    return ok(change.kind === 'applied' ? subscription : { ...subscription, checkout_url: change.url })
  },
})
