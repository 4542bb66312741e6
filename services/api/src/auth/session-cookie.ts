import type { Request } from 'express'
import type { Context } from '../context.ts'

const cookieName = 'belfry_session'

/** Returns the session token that a browser sends in its cookie. */
export function sessionCookieOf(request: Request): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map(pair => pair.trim().split('='))
  return pairs.find(([name]) => name === cookieName)?.[1]
}

/** Returns the `Set-Cookie` header that gives a browser a session token. */
export function sessionCookie(ctx: Context, token: string, expiresAt: Date): string {
  const secure = ctx.config.publicUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookieName}=${token}; Path=/; HttpOnly; SameSite=Lax; Expires=${expiresAt.toUTCString()}${secure}`
}

/** Returns the `Set-Cookie` header that removes the session token from a browser. */
export function noSessionCookie(ctx: Context): string {
  return sessionCookie(ctx, '', new Date(0))
}
