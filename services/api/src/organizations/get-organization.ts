import { organizationDetail, organizationSummary } from '@belfry/contract'
import { readUsage } from '@belfry/db'
import { decide } from '@belfry/domain'
import { z } from 'zod'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { presentUsage } from './get-usage.ts'
import { presentOrganization, presentOrganizationSummary } from './present-organization.ts'

export const getOrganization = endpoint({
  right: 'organization.read',
  summary: 'Read an organization; owners see its usage, an API key sees its name, slug and tier',
  answer: { status: 200, body: z.union([organizationDetail, organizationSummary]) },
  params: { org: 'org' },
  async handle(ctx, { caller: { organizationId, actor } }) {
    const row = await ctx.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } })
    if (actor.kind === 'api_key') return ok(presentOrganizationSummary(row))
    const used = decide(actor, 'usage.read').allowed ? await readUsage(ctx.pool, organizationId) : null
    return ok({ ...presentOrganization(row), ...(used && { usage: presentUsage(ctx, used) }) })
  },
})
