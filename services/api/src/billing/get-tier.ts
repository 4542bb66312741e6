import { organizationSubscription } from '@belfry/contract/tier'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'
import { readSubscription } from './present-subscription.ts'

export const getTier = endpoint({
  right: 'billing.read',
  summary: 'Get the tier of an organization, its limits and its billing',
  answer: { status: 200, body: organizationSubscription },
  params: { org: 'org' },
  async handle(ctx, { caller }) {
    return ok(await readSubscription(ctx, caller.organizationId))
  },
})
