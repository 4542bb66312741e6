import { createHash, timingSafeEqual } from 'node:crypto'
import { listOpenCircuits, type OpenCircuit, requestCircuitReset } from '@belfry/db/dispatchers/host-circuits'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { networkOf } from '@belfry/domain/address'
import { AppError, notFound } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { parseUrl } from '@belfry/domain/target-url'
import { type NextFunction, type Request, type Response, Router } from 'express'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { findOperator } from '../auth/authorize.ts'
import { callerAddress } from '../auth/caller-address.ts'
import { consumeOne } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { addRoutes, endpoint } from '../endpoint.ts'
import { sendResponse } from '../http/response.ts'
import { auditAsOperator, queueBoard } from './queue-board.ts'

/** Makes the pages of the operators of this installation, under `/admin`. */
export function operators(ctx: Context): Router {
  const router = Router()
  router.use(['/queues', '/hosts'], operatorLogin(ctx), requireOwnPage)
  addRoutes(router, ctx, hostRoutes)
  router.use('/queues', queueBoard(ctx))
  return router
}

// Refuses changes that another site starts in a browser: the browser sends the operator's password along. Unlike
// sessions, this login is also for clients other than browsers. They omit both headers.
function requireOwnPage(request: Request, _response: Response, next: NextFunction): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const isForeign = origin !== undefined && parseUrl(origin)?.host !== host
  const isFromElsewhere = site !== undefined && site !== 'same-origin' && site !== 'none'
  if (!isRead && (isForeign || isFromElsewhere)) {
    throw new AppError('forbidden', 'Changes must come from the board itself.')
  }
  next()
}

// The board polls every few seconds. With this cache, polls do not count as attempts or query the database.
const cacheOptions = { max: 1_000, ttl: 60_000 }

/**
 * Authenticates operators: by the session of a user in `OPERATORS`, or by HTTP Basic as `operator` with the configured
 * password. Counts wrong passwords like logins.
 */
function operatorLogin(ctx: Context) {
  const { operatorPassword: password } = ctx.config
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
    const attempt = await consumeOne(ctx, 'operator from', network)
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
  void sendResponse(response, { status: 401, headers, text: 'Sign in as operator.' })
}

// Behind the login of operators.
const answer = (status: 200 | 202) =>
  ({ right: 'public', summary: '', response: { status, body: z.unknown() } }) as const

const listHosts = endpoint(answer(200), async ({ pool }) => ({ data: (await listOpenCircuits(pool)).map(presentHost) }))

/** Closes the circuit breaker of a host. Each dispatcher does it within two seconds. */
const resetHost = endpoint({ ...answer(202), path: '/:ws/:host' }, async (ctx, { params, request }) => {
  const { ws: workspaceId, host } = params
  const dispatchers = await inTransaction(ctx.pool, async tx => {
    const found = await requestCircuitReset(tx, { workspaceId, host })
    if (found === 0) throw notFound()
    await auditAsOperator(tx, { workspaceId, action: 'host.reset', address: callerAddress(request) }, [host])
    return found
  })
  return { dispatchers }
})

const hostRoutes: Parameters<typeof addRoutes>[2] = [
  ['/hosts', { get: listHosts }],
  ['/hosts/:ws/:host', { delete: resetHost }],
]

function presentHost({ workspaceId, host, state, since, nextProbeAt, dispatchers }: OpenCircuit) {
  const times = { since: since.toISOString(), rests_until: nextProbeAt.toISOString() }
  const shown = state === 'open' ? 'resting' : 'probing'
  return { workspace_id: toId('ws', workspaceId), host, state: shown, ...times, dispatchers }
}
