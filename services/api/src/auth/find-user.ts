import { AppError } from '@belfry/domain/app-error'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { logCaller } from '../http/request-log.ts'
import { callerAddress } from './caller-address.ts'
import { isAskedAgain, spend } from './rate-limits.ts'
import {
  cookieOf,
  readSessionToken,
  type SessionClaims,
  sessionCookie,
  sessionMs,
  signSessionToken,
} from './session-token.ts'

/** A signed-in user, and where the request came from. */
export type UserCaller = {
  userId: string
  sessionId: string
  address: string
  /** When the user signed in or last confirmed the identity, in epoch milliseconds. */
  confirmedAt: number
  /** Whether a second factor was used in the session. */
  hasSecondFactor: boolean
}

/**
 * Finds the signed-in user who sends a request, and counts the request.
 * @throws AppError `unauthenticated` without a session, `rate_limited` when the session has sent too many requests.
 */
export async function findUser(
  ctx: Context,
  request: Request,
  missing = 'This needs the session of a user: it is missing, expired or ended.',
): Promise<UserCaller> {
  const refused = new AppError('unauthenticated', missing)
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const cookie = bearer === undefined ? cookieOf(ctx, request, 'belfry_session') : undefined
  const token = bearer ?? cookie
  const now = ctx.clock.now()
  const claims = token === undefined ? null : readSessionToken(ctx.config.jwtKeys, token, now)
  if (!claims) throw refused
  if (cookie !== undefined) requireSameOrigin(ctx.config.publicUrl, request)
  const { userId, sessionId } = claims
  const session = await ctx.prisma.session.findFirst({
    where: {
      id: sessionId,
      userId,
      expiresAt: { gt: new Date(now) },
      createdAt: { gt: new Date(now - maxSessionMs) },
      user: { suspendedAt: null },
    },
    select: { createdAt: true, lastUsedAt: true, confirmedAt: true, hasSecondFactor: true },
  })
  if (!session) {
    // A second statement, for callers that are refused only.
    const isSuspended = (await ctx.prisma.user.count({ where: { id: userId, suspendedAt: { not: null } } })) > 0
    throw isSuspended ? suspended('user') : refused
  }
  logCaller(request, { userId })
  if (!isAskedAgain(request)) {
    spend(ctx, request, 'session', sessionId, requestsPerSecond)
    if (now - (session.lastUsedAt?.getTime() ?? 0) > recordedAfterMs) recordUse(ctx, sessionId, callerAddress(request))
    const end = session.createdAt.getTime() + maxSessionMs
    await renewSession(ctx, request, claims, end, cookie === undefined ? 'bearer' : 'cookie')
  }
  const { confirmedAt, createdAt, hasSecondFactor } = session
  return {
    userId,
    sessionId,
    address: callerAddress(request),
    confirmedAt: (confirmedAt ?? createdAt).getTime(),
    hasSecondFactor,
  }
}

/** In every tier: a session belongs to a person. */
const requestsPerSecond = 50
const recordedAfterMs = 60_000

// The response does not wait for it.
function recordUse(ctx: Context, sessionId: string, address: string): void {
  const text = `
    UPDATE sessions SET last_used_at = now(), address = $2 WHERE id = $1
    AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`
  ctx.pool
    .query({ name: 'record_session_use', text, values: [sessionId, address] })
    .catch(error => ctx.log.warn({ err: error }, 'session.use_not_recorded'))
}

// Refuses a change with the session cookie unless a page of ours asked for it: a browser also sends the cookie with
// requests that other sites start. Bodies must be JSON as well.
function requireSameOrigin(publicUrl: string, request: Request): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const { origin } = request.headers
  if (origin === undefined ? request.headers['sec-fetch-site'] === 'same-origin' : origin === publicUrl) return
  throw new AppError('forbidden', `A change with the session cookie needs an Origin header of ${publicUrl}.`)
}

const renewedAfterMs = 24 * 3_600_000
/** After a month a user signs in again, however often the session was used. */
export const maxSessionMs = 30 * 24 * 3_600_000

// Extends a session whose token is older than a day by seven days, up to its absolute end. The new token comes with the
// response, the way the old one came: as the cookie, or in `X-Session-Token`. The old one stays valid until its own
// end.
async function renewSession(
  ctx: Context,
  request: Request,
  { userId, sessionId, issuedAt }: SessionClaims,
  end: number,
  sentAs: 'cookie' | 'bearer',
): Promise<void> {
  const now = ctx.clock.now()
  if (now - issuedAt < renewedAfterMs) return
  const expiresAt = new Date(Math.min(now + sessionMs, end))
  // A session that has just ended stays ended.
  const { count } = await ctx.prisma.session.updateMany({ where: { id: sessionId, userId }, data: { expiresAt } })
  if (count === 0) return
  const token = signSessionToken(ctx.config.jwtKeys[0], userId, sessionId, now)
  if (sentAs === 'cookie') request.res?.setHeader('Set-Cookie', sessionCookie(ctx, token, expiresAt))
  else request.res?.setHeader('X-Session-Token', token)
}

export function suspended(name: 'user' | 'organization' | 'workspace'): AppError {
  return new AppError('suspended', `The ${name} is suspended. Contact the operator of this installation.`)
}
