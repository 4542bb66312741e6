import jwt from 'jsonwebtoken'
import { z } from 'zod'

/** How long a session lasts. */
export const sessionMs = 7 * 24 * 3_600_000

const issuer = 'belfry'
const audience = 'belfry:session'
const claims = z.object({ sub: z.uuid(), sid: z.uuid() })

/** Signs the token of a session. It is worth something only as long as the session's row exists. */
export function signSessionToken(secret: string, userId: string, sessionId: string, expiresAt: Date): string {
  const exp = Math.floor(expiresAt.getTime() / 1000)
  return jwt.sign({ sub: userId, sid: sessionId, exp }, secret, { algorithm: 'HS256', issuer, audience })
}

/** Reads the token of a session; null when it is not one of ours or is too old. */
export function readSessionToken(secret: string, token: string): { userId: string; sessionId: string } | null {
  try {
    const payload = claims.parse(jwt.verify(token, secret, { algorithms: ['HS256'], issuer, audience }))
    return { userId: payload.sub, sessionId: payload.sid }
  } catch {
    return null // every way of being invalid is the same to the caller
  }
}
