import type { Request } from 'express'
import type { Context } from '../context.ts'
import { sessionCookie } from './session-cookie.ts'
import { type SessionClaims, sessionMs, signSessionToken } from './session-token.ts'

const renewedAfterMs = 24 * 3_600_000

/**
 * Gives a session whose token is older than a day another seven days. The new token comes with the answer, whatever that
 * is, the way the old one came: as the cookie, or in `X-Session-Token`. The old one stays good until its own end.
 */
export async function renewSession(
  ctx: Context,
  request: Request,
  { userId, sessionId, issuedAt }: SessionClaims,
  sentAs: 'cookie' | 'bearer',
): Promise<void> {
  const now = ctx.clock.now()
  if (now - issuedAt < renewedAfterMs) return
  const expiresAt = new Date(now + sessionMs)
  // A session that has just been ended stays ended.
  const { count } = await ctx.prisma.session.updateMany({ where: { id: sessionId, userId }, data: { expiresAt } })
  if (count === 0) return
  const token = signSessionToken(ctx.config.jwtKey, userId, sessionId, now)
  if (sentAs === 'cookie') request.res?.setHeader('Set-Cookie', sessionCookie(ctx, token, expiresAt))
  else request.res?.setHeader('X-Session-Token', token)
}
