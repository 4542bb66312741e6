import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Request } from 'express'
import { cookieOf, setCookie } from '../auth/cookies.ts'
import type { Context } from '../context.ts'

const deviceMs = 365 * 24 * 3_600_000

/**
 * Returns the id of the device that a request comes from, when a user has signed in with it before. Its failed logins are
 * counted separately, so failures of others lock out no user.
 */
export function knownDevice(ctx: Context, request: Request, userId: string): string | null {
  const [id = '', proof = ''] = (cookieOf(ctx, request, 'belfry_device') ?? '').split('.')
  const given = Buffer.from(proof)
  const isProof = ctx.config.jwtKeys.some(key => {
    const wanted = Buffer.from(proofOf(key, id, userId))
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
  return isProof ? id : null
}

/** Returns the `Set-Cookie` header by which a device is known as one of a user. */
export function deviceCookie(ctx: Context, userId: string): string {
  const id = randomBytes(16).toString('base64url')
  return setCookie(
    ctx,
    'belfry_device',
    `${id}.${proofOf(ctx.config.jwtKeys[0], id, userId)}`,
    new Date(ctx.clock.now() + deviceMs),
  )
}

function proofOf(key: KeyObject, id: string, userId: string): string {
  return createHmac('sha256', key).update(`belfry:device ${id} ${userId}`).digest('base64url')
}
