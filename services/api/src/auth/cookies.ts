import type { Request } from 'express'
import type { Context } from '../context.ts'

type CookieName = 'belfry_session' | 'belfry_device' | 'belfry_oidc'
type Settings = { config: Pick<Context['config'], 'publicUrl'> }

/** Returns the session token that a browser sends in its cookie. */
export function sessionCookieOf(ctx: Settings, request: Request): string | undefined {
  return cookieOf(ctx, request, 'belfry_session')
}

/** Returns the `Set-Cookie` header that gives a browser a session token. */
export function sessionCookie(ctx: Settings, token: string, expiresAt: Date): string {
  return setCookie(ctx, 'belfry_session', token, expiresAt)
}

/** Returns the `Set-Cookie` header that removes the session token from a browser. */
export function noSessionCookie(ctx: Settings): string {
  return sessionCookie(ctx, '', new Date(0))
}

/** Returns the value of a cookie that this installation has set. */
export function cookieOf(ctx: Settings, request: Request, name: CookieName): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map(pair => pair.trim().split('='))
  return pairs.find(([given]) => given === fullName(ctx, name))?.[1]
}

export function setCookie(ctx: Settings, name: CookieName, value: string, expiresAt: Date): string {
  const secure = isSecure(ctx) ? '; Secure' : ''
  return `${fullName(ctx, name)}=${value}; Path=/; HttpOnly; SameSite=Lax; Expires=${expiresAt.toUTCString()}${secure}`
}

// The prefix keeps sites on other subdomains from setting the cookie. Browsers accept it only with https.
function fullName(ctx: Settings, name: CookieName): string {
  return isSecure(ctx) ? `__Host-${name}` : name
}

function isSecure({ config }: Settings): boolean {
  return config.publicUrl.startsWith('https:')
}
