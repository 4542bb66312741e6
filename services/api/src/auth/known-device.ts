import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { cookieOf, setCookie } from './cookies.ts'

const deviceMs = 365 * 24 * 3_600_000

/**
 * Returns the id of the device that a request comes from, when a user has signed in with it before. Its failed logins are
 * counted separately, so failures of others lock out no user.
 */
export function knownDevice(ctx: Context, request: Request, userId: string): string | null {
  const [id = '', proof = ''] = (cookieOf(ctx, request, 'belfry_device') ?? '').split('.')
  const [given, wanted] = [Buffer.from(proof), Buffer.from(proofOf(ctx, id, userId))]
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? id : null
}

/** Returns the `Set-Cookie` header by which a device is known as one of a user. */
export function deviceCookie(ctx: Context, userId: string): string {
  const id = randomBytes(16).toString('base64url')
  return setCookie(ctx, 'belfry_device', `${id}.${proofOf(ctx, id, userId)}`, new Date(ctx.clock.now() + deviceMs))
}

function proofOf({ config }: Context, id: string, userId: string): string {
  return createHmac('sha256', config.jwtKey).update(`belfry:device ${id} ${userId}`).digest('base64url')
}
