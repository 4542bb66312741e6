import { createSubscriptionBody, subscription } from '@belfry/contract'
import { AppError, newUuid, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { created } from '../http/reply.ts'
import { inspectTarget } from '../tasks/inspect-target.ts'
import { presentSubscription } from './present-subscription.ts'

// One event can create this many tasks.
const maxInWorkspace = 1_000

export const createSubscription = endpoint({
  right: 'subscription.write',
  summary: 'Subscribe a target to the events of some topics',
  answer: { status: 201, body: subscription },
  refusals: ['conflict'],
  body: createSubscriptionBody,
  inspect: (ctx, body) => inspectTarget(ctx, body),
  async handle(ctx, { caller, body }) {
    const { workspaceId } = caller
    const id = newUuid()
    const row = await ctx.prisma.$transaction(async tx => {
      // The lock keeps concurrent creations within the limit.
      await tx.$queryRaw`SELECT id FROM workspaces WHERE id = ${workspaceId}::uuid FOR NO KEY UPDATE`
      if ((await tx.subscription.count({ where: { workspaceId } })) >= maxInWorkspace) {
        throw new AppError('conflict', `A workspace has at most ${maxInWorkspace} subscriptions. Delete one first.`)
      }
      const details = { topic: body.topic, active: body.active }
      await audit(tx, caller, { action: 'subscription.created', objectId: toId('sub', id), details })
      return tx.subscription.create({
        data: {
          id,
          workspaceId,
          topic: body.topic,
          active: body.active,
          url: body.url,
          headers: JSON.stringify(body.headers),
          maxRetries: body.retry.max_retries,
          backoff: body.retry.backoff,
          baseDelayMs: body.retry.base_delay_ms,
          maxDelayMs: body.retry.max_delay_ms,
          timeoutMs: body.timeout_ms,
        },
      })
    })
    const presented = presentSubscription(row)
    return created(`/api/v1/scheduler/subscriptions/${presented.id}`, presented)
  },
})
