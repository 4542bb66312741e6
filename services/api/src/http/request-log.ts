import type { NextFunction, Request, Response } from 'express'
import type { Context } from '../context.ts'
import { requestIdOf } from './request-id.ts'

/** Writes one line per request when it is over; 499 when the caller left first. */
export function requestLog(ctx: Context) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const began = performance.now()
    response.once('close', () => {
      const { method, route } = request
      const status = response.writableFinished ? response.statusCode : 499
      const durationMs = performance.now() - began
      const isStream = String(response.getHeader('content-type')).startsWith('text/event-stream')
      ctx.metrics.served({
        method: methods.has(method) ? method : 'OTHER',
        route: route?.path ?? 'none',
        status,
        durationMs,
        isStream,
      })
      ctx.log.info(
        {
          request: requestIdOf(response),
          method,
          path: withoutToken(request.path),
          status,
          durationMs: Math.round(durationMs),
        },
        'request.served',
      )
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
