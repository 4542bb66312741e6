import { parseTraceparent } from '@belfry/domain'
import { withoutRedaction } from '@belfry/runtime'
import type { NextFunction, Request, Response } from 'express'
import type { Context } from '../context.ts'
import { requestIdOf } from './request-id.ts'

/** Logs each request when it ends, with status 499 when the caller disconnected first. */
export function requestLog(ctx: Context) {
  const log = withoutRedaction(ctx.log)
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
      const line = {
        request: requestIdOf(response),
        trace: traceIdOf(request),
        method,
        path: withoutToken(pathOf(request)),
        status,
        durationMs: Math.round(durationMs),
      }
      log.info(line, 'request.served')
    })
    next()
  }
}

// Callers can send any method; metrics need few values.
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

// The token of an invitation is a credential, so it must not be logged.
function withoutToken(path: string): string {
  return path.replace(/(\/invitations\/)(?!inv_)[^/]+/, '$1…')
}

// Inside a router `path` lacks the prefix of the router.
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
