import { createOrganizationBody, organization } from '@belfry/contract/organization'
import { isUniqueViolation, type PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import { requireConfirmedEmail } from '../account/email-confirmation.ts'
import { audit } from '../audit/audit.ts'
import type { UserCaller } from '../auth/find-user.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { created } from '../http/reply.ts'
import { presentOrganization } from './organizations.ts'
import { isReservedSlug, slugOf, withSuffix } from './slug.ts'

export const createOrganization = endpoint({
  right: 'signed_in',
  summary: 'Create an organization, of which the caller becomes the owner',
  answer: { status: 201, body: organization },
  refusals: ['email_not_confirmed', 'organization_limit_reached'],
  body: createOrganizationBody,
  async handle(ctx, { caller, body }) {
    const row = await insertOrganization(ctx, body.name, caller)
    const presented = presentOrganization(row)
    return created(`/api/v1/organizations/${presented.id}`, presented)
  },
})

async function insertOrganization(ctx: Context, name: string, caller: UserCaller) {
  const base = slugOf(name)
  for (let slug = isReservedSlug(base) ? withSuffix(base) : base; ; slug = withSuffix(base)) {
    try {
      return await insertWithSlug(ctx, name, slug, caller)
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
    }
  }
}

function insertWithSlug(ctx: Context, name: string, slug: string, caller: UserCaller) {
  const id = newUuid()
  const memberships = { create: { userId: caller.userId, role: 'owner' as const } }
  return ctx.prisma.$transaction(async tx => {
    await requireMay(ctx, tx, caller.userId)
    const row = await tx.organization.create({ data: { id, name, slug, tier: ctx.config.defaultTier, memberships } })
    const by = { organizationId: id, user: caller, apiKeyId: null, address: caller.address }
    await audit(tx, by, { action: 'organization.created', objectId: toId('org', id), details: { name, slug } })
    return row
  })
}

// The lock makes concurrent requests of a user wait for each other, so the count stays exact.
async function requireMay(ctx: Context, tx: PrismaTransaction, userId: string): Promise<void> {
  await tx.$queryRaw`SELECT FROM users WHERE id = ${userId}::uuid FOR NO KEY UPDATE`
  requireConfirmedEmail(ctx, await tx.user.findUniqueOrThrow({ where: { id: userId } }))
  const { organizationsPerUser } = ctx.config
  const owned = await tx.membership.count({ where: { userId, role: 'owner' } })
  if (owned < organizationsPerUser) return
  throw new AppError('organization_limit_reached', `A user can own ${organizationsPerUser} organizations.`)
}
