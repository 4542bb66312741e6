import { changeTierBody, organizationSubscription } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { readSubscription } from './present-subscription.ts'

export const changeTier = endpoint({
  right: 'billing.change',
  summary: 'Choose the tier of an organization',
  answer: { status: 200, body: organizationSubscription },
  refusals: ['conflict', 'unavailable'],
  params: { org: 'org' },
  body: changeTierBody,
  async handle(ctx, { caller, body }) {
    const change = await ctx.billing.changeTier(ctx, caller, body.tier)
    const subscription = await readSubscription(ctx, caller.organizationId)
    return ok(change.kind === 'applied' ? subscription : { ...subscription, checkout_url: change.url })
  },
})
