import { AppError } from '@belfry/domain'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { sessionCookieOf } from './session-cookie.ts'
import { readSessionToken } from './session-token.ts'
import { spendSessionRequest } from './spend-request.ts'

export type UserCaller = { userId: string; sessionId: string }

/**
 * The signed-in user who calls; counts the request.
 * @throws AppError `unauthenticated` when there is none, `rate_limited` when the session has asked too much.
 */
export async function findUser(ctx: Context, request: Request): Promise<UserCaller> {
  const refused = new AppError('unauthenticated', 'Sign in first: the session is missing, expired or ended.')
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const cookie = bearer === undefined ? sessionCookieOf(request) : undefined
  const token = bearer ?? cookie
  const claims = token === undefined ? null : readSessionToken(ctx.config.jwtSecret, token)
  if (!claims) throw refused
  if (cookie !== undefined) requireSameOrigin(ctx, request)
  const session = await ctx.prisma.session.findFirst({
    where: { id: claims.sessionId, userId: claims.userId, expiresAt: { gt: new Date(ctx.clock.now()) } },
    select: { userId: true },
  })
  if (!session) throw refused
  spendSessionRequest(ctx, request, claims.sessionId)
  return { userId: session.userId, sessionId: claims.sessionId }
}

// A browser sends the cookie along with requests that other sites start.
function requireSameOrigin(ctx: Context, request: Request): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  if (request.headers.origin === ctx.config.publicUrl) return
  throw new AppError('forbidden', `A change with the session cookie needs an Origin header of ${ctx.config.publicUrl}.`)
}
