import { toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { noContent } from '../http/reply.ts'

export const deleteSubscription = endpoint({
  right: 'subscription.delete',
  summary: 'Delete a subscription; events published before are still sent',
  answer: { status: 204 },
  params: { sub: 'sub' },
  async handle(ctx, { caller, params: { sub: id } }) {
    const { workspaceId } = caller
    await ctx.prisma.$transaction(async tx => {
      const subscription = await tx.subscription.findFirst({ where: { id, workspaceId }, select: { topic: true } })
      const { count } = await tx.subscription.deleteMany({ where: { id, workspaceId } })
      if (!subscription || count === 0) throw notFound()
      const details = { topic: subscription.topic }
      await audit(tx, caller, { action: 'subscription.deleted', objectId: toId('sub', id), details })
    })
    return noContent()
  },
})
