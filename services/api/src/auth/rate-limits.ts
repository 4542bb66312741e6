import { AppError } from '@belfry/domain/app-error'
import { steadyTime } from '@belfry/runtime'
import type { Request } from 'express'
import type { Context } from '../context.ts'

const secondMs = 1000

/**
 * Keeps an allowance for each id: a bucket that holds the requests of one second and fills up evenly. Each process
 * keeps its own, to spare each request a round trip to another server. So a caller has one allowance per process.
 */
export function createRateLimits(now: () => number = steadyTime) {
  // A bucket that was not used for a second is full, so it can be dropped.
  let recent = new Map<string, { left: number; atMs: number }>()
  let older: typeof recent = new Map()
  let turnedAtMs = now()
  return {
    /** Takes one request out of an allowance per second. Returns the rest of it. */
    take(id: string, perSecond: number) {
      const atMs = now()
      if (atMs - turnedAtMs >= secondMs) {
        older = recent
        recent = new Map()
        turnedAtMs = atMs
      }
      const before = recent.get(id) ?? older.get(id)
      const filled = before ? before.left + ((atMs - before.atMs) / secondMs) * perSecond : perSecond
      const had = Math.min(perSecond, filled)
      const allowed = had >= 1
      const left = allowed ? had - 1 : had
      recent.set(id, { left, atMs })
      return { allowed, left: Math.floor(left), fullInS: Math.ceil((perSecond - left) / perSecond) }
    },
  }
}

const askedAgain = new WeakSet<Request>()

/** Notes that the caller of a request has been checked. */
export function askAgain(request: Request): void {
  askedAgain.add(request)
}

/**
 * Returns whether the caller of a request has been checked before: an endpoint asks again after a late body, and a stream
 * while it is sent. That check is read-only: it does not count the request or renew the session.
 */
export function isAskedAgain(request: Request): boolean {
  return request.res?.headersSent === true || askedAgain.has(request)
}

/** Counts a request of an API key or a session. Throws `rate_limited` when its allowance per second is used up. */
export function spend(ctx: Context, request: Request, policy: 'key' | 'session', id: string, perSecond: number): void {
  if (!ctx.config.limitsRates) return
  const { allowed, left, fullInS } = ctx.rateLimits.take(id, perSecond)
  request.res?.setHeader('RateLimit-Policy', `"${policy}";q=${perSecond};w=1`)
  request.res?.setHeader('RateLimit', `"${policy}";r=${left};t=${fullInS}`)
  if (allowed) return
  request.res?.setHeader('Retry-After', '1')
  throw new AppError('rate_limited', `At most ${perSecond} requests per second are allowed. Send this one again later.`)
}
