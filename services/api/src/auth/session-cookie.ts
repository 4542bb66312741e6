import type { Request } from 'express'
import type { Context } from '../context.ts'

const cookieName = 'belfry_session'

/** The session token that a browser sends along. */
export function sessionCookieOf(request: Request): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map(pair => pair.trim().split('='))
  return pairs.find(([name]) => name === cookieName)?.[1]
}

/** The `Set-Cookie` header that carries a session token to a browser. */
export function sessionCookie(ctx: Context, token: string, expiresAt: Date): string {
  const secure = ctx.config.publicUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookieName}=${token}; Path=/; HttpOnly; SameSite=Lax; Expires=${expiresAt.toUTCString()}${secure}`
}

/** The `Set-Cookie` header that makes a browser forget its session. */
export function noSessionCookie(ctx: Context): string {
  return sessionCookie(ctx, '', new Date(0))
}
