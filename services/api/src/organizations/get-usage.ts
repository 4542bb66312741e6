import { usage } from '@belfry/contract'
import { readDailyUsage, readUsage } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { ok } from '../http/reply.ts'
import { presentUsage } from './present-usage.ts'

export const getUsage = endpoint({
  right: 'usage.read',
  summary: 'Get what an organization has used of its tier',
  answer: { status: 200, body: usage },
  params: { org: 'org' },
  async handle(ctx, { caller }) {
    const { organizationId } = caller
    const [used, daily] = await Promise.all([
      readUsage(ctx.pool, organizationId),
      readDailyUsage(ctx.pool, organizationId),
    ])
    if (!used) throw notFound()
    return ok({ ...presentUsage(ctx, used), daily })
  },
})
