import type { Request } from 'express'
import * as client from 'openid-client'
import { z } from 'zod'
import { cookieOf, setCookie } from '../auth/cookies.ts'
import type { Context } from '../context.ts'
import { openText, sealText } from './sealed-text.ts'

/** A sign-in that has begun. The browser keeps it in a cookie, so no other browser can finish it. */
const attempt = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** The page to open afterwards. */
  returnTo: z.string(),
})

export type Attempt = z.infer<typeof attempt>

/** How long a user has at the issuer. */
const attemptMs = 10 * 60_000

export function newAttempt(returnTo: string): Attempt {
  const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()]
  return { state, nonce, verifier, returnTo }
}

/** Returns the `Set-Cookie` header that keeps an attempt, encrypted. */
export async function attemptCookie(ctx: Context, begun: Attempt): Promise<string> {
  const now = ctx.clock.now()
  const sealed = await sealText(ctx.config.jwtKeys[0], 'sign-in', begun, attemptMs, now)
  return setCookie(ctx, 'belfry_oidc', sealed, new Date(now + attemptMs))
}

/** Returns the `Set-Cookie` header that ends an attempt: each can be finished once. */
export function noAttemptCookie(ctx: Context): string {
  return setCookie(ctx, 'belfry_oidc', '', new Date(0))
}

/** Returns the attempt that this browser has begun, unless it is too old. */
export async function attemptOf(ctx: Context, request: Request): Promise<Attempt | null> {
  const sealed = cookieOf(ctx, request, 'belfry_oidc')
  if (!sealed) return null
  const result = attempt.safeParse(await openText(ctx.config.jwtKeys, 'sign-in', sealed, ctx.clock.now()))
  return result.success ? result.data : null
}
