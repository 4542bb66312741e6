import type { KeyObject } from 'node:crypto'
import type { Request } from 'express'
import jwt from 'jsonwebtoken'
import { z } from 'zod'
import type { Context } from '../context.ts'

export const sessionMs = 7 * 24 * 3_600_000

const issuer = 'belfry'
const audience = 'belfry:session'
const type = 'session+jwt'

// Strict: a token with members that Belfry does not write, such as `jwk`, `kid` or `crit`, is not from Belfry.
const token = z.object({
  header: z.strictObject({ alg: z.literal('HS256'), typ: z.literal(type) }),
  payload: z.strictObject({
    sub: z.uuid(),
    sid: z.uuid(),
    iat: z.int(),
    exp: z.int(),
    iss: z.literal(issuer),
    aud: z.literal(audience),
  }),
})

// Processes whose clocks differ a little accept each other's tokens.
const skewSeconds = 60

export type SessionClaims = { userId: string; sessionId: string; issuedAt: number }

/** Signs the token of a session, valid from `now`. The token is valid only while the row of the session exists. */
export function signSessionToken(key: KeyObject, userId: string, sessionId: string, now: number): string {
  const iat = Math.floor(now / 1000)
  const payload = { sub: userId, sid: sessionId, iat, exp: iat + sessionMs / 1000, iss: issuer, aud: audience }
  return jwt.sign(payload, key, { algorithm: 'HS256', header: { alg: 'HS256', typ: type } })
}

/** Returns null for a token that is invalid or too old, or that none of the keys has signed. */
export function readSessionToken(keys: readonly KeyObject[], text: string, now: number): SessionClaims | null {
  for (const key of keys) {
    const claims = readWithKey(key, text, now)
    if (claims) return claims
  }
  return null
}

function readWithKey(key: KeyObject, text: string, now: number): SessionClaims | null {
  const clockTimestamp = Math.floor(now / 1000)
  const rules = { algorithms: ['HS256' as const], issuer, audience, clockTimestamp, complete: true as const }
  try {
    const { payload } = token.parse(jwt.verify(text, key, { ...rules, maxAge: sessionMs / 1000 }))
    if (payload.iat > clockTimestamp + skewSeconds) return null
    return { userId: payload.sub, sessionId: payload.sid, issuedAt: payload.iat * 1000 }
  } catch {
    return null // callers need not know why
  }
}

type CookieName = 'belfry_session' | 'belfry_device' | 'belfry_oidc'

export function sessionCookie(ctx: Context, token: string, expiresAt: Date): string {
  return setCookie(ctx, 'belfry_session', token, expiresAt)
}

export function noSessionCookie(ctx: Context): string {
  return sessionCookie(ctx, '', new Date(0))
}

/** Returns the value of a cookie that this installation has set. */
export function cookieOf(ctx: Context, request: Request, name: CookieName): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map(pair => pair.trim().split('='))
  return pairs.find(([given]) => given === fullName(ctx, name))?.[1]
}

export function setCookie(ctx: Context, name: CookieName, value: string, expiresAt: Date): string {
  const secure = isSecure(ctx) ? '; Secure' : ''
  return `${fullName(ctx, name)}=${value}; Path=/; HttpOnly; SameSite=Lax; Expires=${expiresAt.toUTCString()}${secure}`
}

// The prefix keeps sites on other subdomains from setting the cookie. Browsers accept it only with https.
function fullName(ctx: Context, name: CookieName): string {
  return isSecure(ctx) ? `__Host-${name}` : name
}

function isSecure({ config }: Context): boolean {
  return config.publicUrl.startsWith('https:')
}
