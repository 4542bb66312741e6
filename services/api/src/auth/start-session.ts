import type { SignedIn } from '@belfry/contract'
import { recordAccountEntry } from '@belfry/db'
import type { PrismaTransaction } from '@belfry/db/prisma'
import { newUuid } from '@belfry/domain'
import type { Context } from '../context.ts'
import { sessionCookie } from './cookies.ts'
import { presentUser, type UserRow } from './get-me.ts'
import { deviceCookie } from './known-device.ts'
import { sessionMs, signSessionToken } from './session-token.ts'

/** Opens a session for a user, from the address of the caller. Returns the response to a registration or a login. */
export async function startSession(
  ctx: Context,
  tx: Pick<PrismaTransaction, 'session' | '$executeRawUnsafe'>,
  user: UserRow,
  address: string,
): Promise<{ body: SignedIn; headers: { 'Set-Cookie': string[] } }> {
  const now = ctx.clock.now()
  const expiresAt = new Date(now + sessionMs)
  const session = await tx.session.create({ data: { id: newUuid(), userId: user.id, expiresAt } })
  await recordAccountEntry(tx, { userId: user.id, action: 'signed_in', address })
  const token = signSessionToken(ctx.config.jwtKeys[0], user.id, session.id, now)
  return {
    body: { user: presentUser(user), token, expires_at: expiresAt.toISOString() },
    headers: { 'Set-Cookie': [sessionCookie(ctx, token, expiresAt), deviceCookie(ctx, user.id)] },
  }
}
