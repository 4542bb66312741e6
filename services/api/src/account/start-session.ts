import type { SignedIn } from '@belfry/contract/auth'
import { recordAccountEntry } from '@belfry/db/account-log'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { newUuid } from '@belfry/domain/id'
import type { Request } from 'express'
import { callerAddress } from '../auth/caller-address.ts'
import { sessionCookie } from '../auth/cookies.ts'
import { sessionMs, signSessionToken } from '../auth/session-token.ts'
import type { Context } from '../context.ts'
import { mailNewDevice } from './account-mail.ts'
import { agentOf, deviceCookie } from './device.ts'
import { presentUser, type UserRow } from './me.ts'

/**
 * Opens a session for the user who sends a request. Returns the response to a registration or a login.
 * @param logoutHint - What a sign-out at the issuer needs, sealed. Default: none.
 */
export async function startSession(
  ctx: Context,
  tx: Pick<PrismaTransaction, 'session' | '$executeRawUnsafe' | '$queryRaw'>,
  user: UserRow,
  request: Request,
  { hasSecondFactor = false, logoutHint }: { hasSecondFactor?: boolean; logoutHint?: string | undefined } = {},
): Promise<{ body: SignedIn; headers: { 'Set-Cookie': string[] } }> {
  const now = ctx.clock.now()
  const expiresAt = new Date(now + sessionMs)
  const from = { address: callerAddress(request), agent: agentOf(request) }
  const session = await tx.session.create({
    data: {
      id: newUuid(),
      userId: user.id,
      // By default, Prisma would take the clock of this process.
      createdAt: new Date(now),
      expiresAt,
      lastUsedAt: new Date(now),
      hasSecondFactor,
      logoutHint: logoutHint ?? null,
      ...from,
    },
  })
  await mailNewDevice(ctx, tx, user, request)
  await recordAccountEntry(tx, { userId: user.id, action: 'signed_in', ...from })
  const token = signSessionToken(ctx.config.jwtKeys[0], user.id, session.id, now)
  return {
    body: { user: presentUser(user), token, expires_at: expiresAt.toISOString() },
    headers: { 'Set-Cookie': [sessionCookie(ctx, token, expiresAt), deviceCookie(ctx, user.id)] },
  }
}
