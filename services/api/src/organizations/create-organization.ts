import { createOrganizationBody, organization } from '@belfry/contract'
import { isUniqueViolation } from '@belfry/db/prisma'
import { newUuid } from '@belfry/domain'
import type { Context } from '../context.ts'
import { endpoint } from '../http/endpoint.ts'
import { created } from '../http/reply.ts'
import { presentOrganization } from './present-organization.ts'
import { slugOf, withSuffix } from './slug.ts'

export const createOrganization = endpoint({
  right: 'signed_in',
  summary: 'Create an organization, of which the caller becomes the owner',
  answer: { status: 201, body: organization },
  body: createOrganizationBody,
  async handle(ctx, { caller, body }) {
    const organization = await insertOrganization(ctx, body.name, caller.userId)
    const presented = presentOrganization(organization)
    return created(`/api/v1/organizations/${presented.id}`, presented)
  },
})

// The caller becomes its owner (spec 4).
async function insertOrganization(ctx: Context, name: string, userId: string) {
  const base = slugOf(name)
  for (let slug = base; ; slug = withSuffix(base)) {
    const memberships = { create: { userId, role: 'owner' as const } }
    try {
      return await ctx.prisma.organization.create({
        data: { id: newUuid(), name, slug, tier: ctx.config.defaultTier, memberships },
      })
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
    }
  }
}
