import { listSubscriptionsQuery, pageOf, subscription } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { presentSubscription } from './present-subscription.ts'

export const listSubscriptions = endpoint({
  right: 'subscription.read',
  summary: 'List subscriptions, newest first',
  answer: { status: 200, body: pageOf(subscription) },
  query: listSubscriptionsQuery,
  async handle(ctx, { caller: { workspaceId }, query }) {
    const list = `subscriptions:${workspaceId}`
    const after = readCursor(list, query)
    const rows = await ctx.prisma.subscription.findMany({
      where: { workspaceId, ...(after === undefined ? {} : { id: { lt: after } }) },
      orderBy: { id: 'desc' },
      take: query.limit + 1,
    })
    return ok(toPage(list, query, rows, presentSubscription))
  },
})
