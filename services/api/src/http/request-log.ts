import { parseTraceparent } from '@belfry/domain'
import { plainLines } from '@belfry/runtime'
import type { NextFunction, Request, Response } from 'express'
import type { Context } from '../context.ts'
import { requestIdOf } from './request-id.ts'

/** Writes one line per request when it is over; 499 when the caller left first. */
export function requestLog(ctx: Context) {
  const log = plainLines(ctx.log, 'request.served')
  return (request: Request, response: Response, next: NextFunction): void => {
    const began = performance.now()
    response.on('close', () => {
      const { method } = request
      const status = response.writableFinished ? response.statusCode : 499
      const durationMs = performance.now() - began
      const isStream = String(response.getHeader('content-type')).startsWith('text/event-stream')
      ctx.metrics.served({
        method: methods.has(method) ? method : 'OTHER',
        route: routeOf(request),
        status,
        durationMs,
        isStream,
      })
      log({
        request: requestIdOf(response),
        trace: traceIdOf(request),
        method,
        path: withoutToken(pathOf(request)),
        status,
        durationMs: Math.round(durationMs),
      })
    })
    next()
  }
}

// What a caller may call a method is not bounded.
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

// Whoever has the token of an invitation may accept it.
function withoutToken(path: string): string {
  return path.replace(/(\/invitations\/)(?!inv_)[^/]+/, '$1…')
}

// Within the board the path is what comes after its own.
function pathOf({ originalUrl }: Request): string {
  return originalUrl.split('?', 1)[0] ?? ''
}

function traceIdOf({ headers: { traceparent } }: Request): string | undefined {
  return typeof traceparent === 'string' ? parseTraceparent(traceparent)?.traceId : undefined
}

/** Returns the pattern of the path that a request was served under; `none` when no route matched. */
export function routeOf({ baseUrl, route }: Request): string {
  return baseUrl || (typeof route?.path === 'string' ? route.path : 'none')
}
