import { readTraceparent } from '@belfry/domain/traceparent'
import type { Tracing } from '@belfry/runtime'
import type { NextFunction, Request, Response } from 'express'
import { routeOf } from './request-log.ts'

/**
 * Makes each request a span of its caller's trace, or of a new trace. Replaces the request's `traceparent` with that of the
 * span.
 */
export function traceRequests(tracing: Tracing) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { method } = request
    const parent = readTraceparent(request.headers.traceparent)
    const span = tracing.start({ name: method, kind: 'server', parent, attributes: { 'http.request.method': method } })
    request.headers.traceparent = span.traceparent
    response.once('close', () => {
      const { statusCode } = response
      const route = routeOf(request)
      span.end({
        name: `${method} ${route}`,
        attributes: { 'http.route': route, 'http.response.status_code': statusCode },
        error: statusCode >= 500 ? String(statusCode) : null,
      })
    })
    next()
  }
}
