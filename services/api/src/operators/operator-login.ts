import { createHash, timingSafeEqual } from 'node:crypto'
import { networkOf } from '@belfry/domain/address'
import { AppError } from '@belfry/domain/app-error'
import type { NextFunction, Request, Response } from 'express'
import { LRUCache } from 'lru-cache'
import { callerAddress } from '../auth/caller-address.ts'
import { findOperator } from '../auth/find-operator.ts'
import { consumeOperatorAttempt } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { sendReply } from '../http/reply.ts'

// The board polls every few seconds. That should neither count as an attempt nor need the database.
const cacheOptions = { max: 1_000, ttl: 60_000 }

/**
 * Authenticates operators: by the session of a user in `OPERATORS`, or by HTTP Basic as `operator` with the configured
 * password. Counts wrong passwords like logins.
 * @param password - Null when there is none.
 */
export function operatorLogin(ctx: Context, password: string | null) {
  const expected = password === null ? null : digest(`operator:${password}`)
  const signedIn = new LRUCache<string, true>(cacheOptions)

  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const credentials = readCredentials(request.headers.authorization)
    if (credentials === null || expected === null) {
      if (await hasOperatorSession(ctx, request)) return next()
      return refuse(response)
    }
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

async function hasOperatorSession(ctx: Context, request: Request): Promise<boolean> {
  if (ctx.config.operators.length === 0) return false
  try {
    await findOperator(ctx, request)
    return true
  } catch (error) {
    if (error instanceof AppError && error.code !== 'unavailable') return false
    throw error
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
