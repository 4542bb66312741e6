import { subscription } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { ok } from '../http/reply.ts'
import { presentSubscription } from './present-subscription.ts'

export const getSubscription = endpoint({
  right: 'subscription.read',
  summary: 'Get a subscription',
  answer: { status: 200, body: subscription },
  params: { sub: 'sub' },
  async handle(ctx, { caller: { workspaceId }, params }) {
    const row = await ctx.prisma.subscription.findFirst({ where: { id: params.sub, workspaceId } })
    if (!row) throw notFound()
    return ok(presentSubscription(row))
  },
})
