import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { noContent } from '../http/reply.ts'

export const deleteSubscription = endpoint({
  right: 'subscription.delete',
  summary: 'Delete a subscription; what was published before is still sent',
  answer: { status: 204 },
  params: { sub: 'sub' },
  async handle(ctx, { caller: { workspaceId }, params }) {
    const { count } = await ctx.prisma.subscription.deleteMany({ where: { id: params.sub, workspaceId } })
    if (count === 0) throw notFound()
    return noContent()
  },
})
