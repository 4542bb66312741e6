import { subscription, updateSubscriptionBody } from '@belfry/contract'
import { toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { given, isEmpty } from '../http/given.ts'
import { notFound } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'
import { inspectTarget } from '../tasks/inspect-target.ts'
import { presentSubscription, readSubscription } from './present-subscription.ts'

export const updateSubscription = endpoint({
  right: 'subscription.write',
  summary: 'Change a subscription, for events published from then on',
  answer: { status: 200, body: subscription },
  params: { sub: 'sub' },
  body: updateSubscriptionBody,
  inspect: (ctx, body) => inspectTarget(ctx, body),
  async handle(ctx, { caller, params, body }) {
    const { workspaceId } = caller
    const change = given({
      topic: body.topic,
      active: body.active,
      url: body.url,
      headers: body.headers && JSON.stringify(body.headers),
      maxRetries: body.retry?.max_retries,
      backoff: body.retry?.backoff,
      baseDelayMs: body.retry?.base_delay_ms,
      maxDelayMs: body.retry?.max_delay_ms,
      timeoutMs: body.timeout_ms,
    })
    if (isEmpty(change)) return ok(await readSubscription(ctx, workspaceId, params.sub))
    const row = await ctx.prisma.$transaction(async tx => {
      const [changed] = await tx.subscription.updateManyAndReturn({
        where: { id: params.sub, workspaceId },
        data: change,
      })
      if (!changed) throw notFound()
      // A URL or a header may hold a secret, so the record has the names of the changed fields and not their values.
      const details = { topic: changed.topic, fields: Object.keys(body) }
      await audit(tx, caller, { action: 'subscription.changed', objectId: toId('sub', changed.id), details })
      return changed
    })
    return ok(presentSubscription(row))
  },
})
