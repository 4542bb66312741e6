import type { SignedIn, User } from '@belfry/contract'
import { newUuid, toId } from '@belfry/domain'
import type { Context } from '../context.ts'
import { sessionCookie } from './session-cookie.ts'
import { sessionMs, signSessionToken } from './session-token.ts'

type UserRow = { id: string; email: string; name: string; createdAt: Date }

/** Opens a session for a user, as the answer to a registration or a login. */
export async function startSession(
  ctx: Context,
  user: UserRow,
): Promise<{ body: SignedIn; headers: Record<string, string> }> {
  const expiresAt = new Date(ctx.clock.now() + sessionMs)
  const session = await ctx.prisma.session.create({ data: { id: newUuid(), userId: user.id, expiresAt } })
  const token = signSessionToken(ctx.config.jwtSecret, user.id, session.id, expiresAt)
  return {
    body: { user: presentUser(user), token, expires_at: expiresAt.toISOString() },
    headers: { 'Set-Cookie': sessionCookie(ctx, token, expiresAt) },
  }
}

function presentUser(user: UserRow): User {
  return { id: toId('user', user.id), email: user.email, name: user.name, created_at: user.createdAt.toISOString() }
}
