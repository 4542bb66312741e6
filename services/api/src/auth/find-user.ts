import { AppError } from '@belfry/domain'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { callerAddress } from './caller-address.ts'
import { renewSession } from './renew-session.ts'
import { requireSameOrigin } from './require-same-origin.ts'
import { sessionCookieOf } from './session-cookie.ts'
import { readSessionToken } from './session-token.ts'
import { spendSessionRequest } from './spend-request.ts'

/** A signed-in user, and where the request came from. */
export type UserCaller = { userId: string; sessionId: string; address: string }

/**
 * The signed-in user who calls; counts the request. `missing` is what a caller without a session is told.
 * @throws AppError `unauthenticated` when there is none, `rate_limited` when the session has asked too much.
 */
export async function findUser(
  ctx: Context,
  request: Request,
  missing = 'Sign in first: the session is missing, expired or ended.',
): Promise<UserCaller> {
  const refused = new AppError('unauthenticated', missing)
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const cookie = bearer === undefined ? sessionCookieOf(request) : undefined
  const token = bearer ?? cookie
  const now = ctx.clock.now()
  const claims = token === undefined ? null : readSessionToken(ctx.config.jwtKey, token, now)
  if (!claims) throw refused
  if (cookie !== undefined) requireSameOrigin(ctx.config.publicUrl, request)
  const { userId, sessionId } = claims
  const session = await ctx.prisma.session.findFirst({
    where: { id: sessionId, userId, expiresAt: { gt: new Date(now) } },
    select: { id: true },
  })
  if (!session) throw refused
  spendSessionRequest(ctx, request, sessionId)
  await renewSession(ctx, request, claims, cookie === undefined ? 'bearer' : 'cookie')
  return { userId, sessionId, address: callerAddress(request) }
}
