import { organizationSubscription } from '@belfry/contract'
import { readUsage } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { ok } from '../http/reply.ts'
import { presentSubscription } from './present-subscription.ts'

export const getTier = endpoint({
  right: 'billing.read',
  summary: 'Get the tier of an organization and what it allows',
  answer: { status: 200, body: organizationSubscription },
  params: { org: 'org' },
  async handle(ctx, { caller }) {
    const usage = await readUsage(ctx.pool, caller.organizationId)
    if (!usage) throw notFound()
    return ok(presentSubscription(ctx, usage.tier))
  },
})
