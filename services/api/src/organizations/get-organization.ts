import { organization, organizationSummary } from '@belfry/contract'
import { z } from 'zod'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { presentOrganization, presentOrganizationSummary } from './present-organization.ts'

export const getOrganization = endpoint({
  right: 'organization.read',
  summary: 'Read an organization; an API key sees its name, slug and tier',
  answer: { status: 200, body: z.union([organization, organizationSummary]) },
  params: { org: 'org' },
  async handle(ctx, { caller }) {
    const row = await ctx.prisma.organization.findUniqueOrThrow({ where: { id: caller.organizationId } })
    return ok(caller.actor.kind === 'api_key' ? presentOrganizationSummary(row) : presentOrganization(row))
  },
})
