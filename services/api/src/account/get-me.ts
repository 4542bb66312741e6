import { type Me, me, type User } from '@belfry/contract/auth'
import { toId } from '@belfry/domain/id'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'
import { mustConfirmEmail } from './email-confirmation.ts'

const maxOrganizations = 100

export const getMe = endpoint({
  right: 'signed_in',
  summary: 'Read the signed-in user and their organizations',
  answer: { status: 200, body: me },
  async handle(ctx, { caller }) {
    return ok(await readMe(ctx, caller.userId))
  },
})

/** Reads the signed-in user and the user's organizations. */
export async function readMe(ctx: Context, userId: string): Promise<Me> {
  const user = await ctx.prisma.user.findUniqueOrThrow({
    where: { id: userId },
    include: {
      memberships: { include: { organization: true }, orderBy: { joinedAt: 'desc' }, take: maxOrganizations },
    },
  })
  return {
    user: presentUser(user),
    must_confirm_email: mustConfirmEmail(ctx, user),
    organizations: user.memberships.map(({ role, organization: { id, name, slug } }) => ({
      id: toId('org', id),
      name,
      slug,
      role,
    })),
  }
}

export type UserRow = { id: string; email: string; name: string; createdAt: Date }

/** Returns the public form of a user. */
export function presentUser(user: UserRow): User {
  return { id: toId('user', user.id), email: user.email, name: user.name, created_at: user.createdAt.toISOString() }
}
