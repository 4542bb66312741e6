import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Request } from 'express'
import { cookieOf, setCookie } from '../auth/session-token.ts'
import type { Context } from '../context.ts'

const maxLength = 300

// A browser names those that it resembles as well, so the more particular names come first.
const programs: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Headless)?(Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^belfry-cli\b/, 'Belfry CLI'],
]

const systems: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
]

export function agentOf({ headers }: Request): string {
  return (headers['user-agent'] ?? '').slice(0, maxLength)
}

/** Returns a name for the device of a User-Agent, such as "Chrome on Linux". Other programs have their own names. */
export function deviceName(agent: string | null): string {
  if (!agent) return 'Unknown device'
  const first = (list: typeof programs) => list.find(([pattern]) => pattern.test(agent))?.[1]
  const program = first(programs) ?? /^[\w.-]{1,40}/.exec(agent.replace(/^Mozilla\/.*/, ''))?.[0] ?? 'Unknown browser'
  const system = first(systems)
  return system === undefined ? program : `${program} on ${system}`
}

const deviceMs = 365 * 24 * 3_600_000

/**
 * Returns the id of the device that a request comes from, when a user has signed in with it before. Its failed logins
 * are counted separately, so failures of others cannot lock out the user.
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
