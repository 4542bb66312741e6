import { createHash, timingSafeEqual } from 'node:crypto'
import { networkOf } from '@belfry/domain'
import type { NextFunction, Request, Response } from 'express'
import { LRUCache } from 'lru-cache'
import { callerAddress } from '../auth/caller-address.ts'
import { consumeOperatorAttempt } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { sendReply } from '../http/send.ts'

// The board polls every few seconds. That should neither count as an attempt nor need the database.
const cacheOptions = { max: 1_000, ttl: 60_000 }

/** Authenticates operators: HTTP Basic as `operator` with the configured password. Counts wrong passwords like logins. */
export function operatorLogin(ctx: Context, password: string) {
  const expected = digest(`operator:${password}`)
  const signedIn = new LRUCache<string, true>(cacheOptions)

  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const credentials = readCredentials(request.headers.authorization)
    if (credentials === null) return refuse(response)
    const isRight = timingSafeEqual(digest(credentials), expected)
    const network = networkOf(callerAddress(request))
    if (isRight && signedIn.has(network)) return next()
    const attempt = await consumeOperatorAttempt(ctx, network)
    if (!isRight) {
      ctx.log.warn({ address: callerAddress(request) }, 'operator.refused')
      return refuse(response)
    }
    await attempt.refund()
    signedIn.set(network, true)
    next()
  }
}

function readCredentials(header: string | undefined): string | null {
  const encoded = /^basic ([a-z0-9+/=]+)$/i.exec(header ?? '')?.[1]
  return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString()
}

// Gives credentials of any length the same length.
function digest(credentials: string): Buffer {
  return createHash('sha256').update(credentials).digest()
}

function refuse(response: Response): void {
  const headers = {
    'WWW-Authenticate': 'Basic realm="Belfry operators", charset="UTF-8"',
    'Content-Type': 'text/plain',
  }
  void sendReply(response, { status: 401, headers, text: 'Sign in as operator.' })
}
