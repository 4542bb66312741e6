import { AppError, type TierName } from '@belfry/domain'
import type { Request } from 'express'
import type { Context } from '../context.ts'

/** Requests a second of each session, whatever the tier: it belongs to a person. */
const sessionRequestsPerSecond = 50

/** Takes a request out of the allowance of an API key. Throws `rate_limited` when that is used up. */
export function spendKeyRequest(ctx: Context, request: Request, keyId: string, tier: TierName): void {
  spend(ctx, request, 'key', keyId, ctx.config.tiers[tier].requestsPerSecond)
}

/** Takes a request out of the allowance of a session. Throws `rate_limited` when that is used up. */
export function spendSessionRequest(ctx: Context, request: Request, sessionId: string): void {
  spend(ctx, request, 'session', sessionId, sessionRequestsPerSecond)
}

function spend(ctx: Context, request: Request, policy: 'key' | 'session', id: string, perSecond: number): void {
  if (!ctx.config.limitsRates) return
  const { allowed, left, fullInS } = ctx.rateLimits.take(id, perSecond)
  request.res?.setHeader('RateLimit-Policy', `"${policy}";q=${perSecond};w=1`)
  request.res?.setHeader('RateLimit', `"${policy}";r=${left};t=${fullInS}`)
  if (allowed) return
  request.res?.setHeader('Retry-After', '1')
  throw new AppError(
    'rate_limited',
    `At most ${perSecond} requests a second are answered here. Send this one again later.`,
  )
}
