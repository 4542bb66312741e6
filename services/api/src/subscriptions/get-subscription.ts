import { subscription } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { readSubscription } from './present-subscription.ts'

export const getSubscription = endpoint({
  right: 'subscription.read',
  summary: 'Get a subscription',
  answer: { status: 200, body: subscription },
  params: { sub: 'sub' },
  async handle(ctx, { caller: { workspaceId }, params }) {
    return ok(await readSubscription(ctx, workspaceId, params.sub))
  },
})
