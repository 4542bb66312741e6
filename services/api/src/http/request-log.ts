import { randomUUID } from 'node:crypto'
import { toId } from '@belfry/domain/id'
import { readTraceparent } from '@belfry/domain/traceparent'
import { frequentLine, type Tracing } from '@belfry/runtime'
import type { NextFunction, Request, Response } from 'express'
import type { Context } from '../context.ts'

const wellFormed = /^[A-Za-z0-9._-]{1,128}$/

/** Sets `X-Request-Id` on every response: the caller's when it is well formed, else a new one. */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers['x-request-id']
  const id = typeof given === 'string' && wellFormed.test(given) ? given : randomUUID()
  response.locals.requestId = id
  response.setHeader('X-Request-Id', id)
  next()
}

export function requestIdOf({ locals }: Response): string {
  return locals.requestId
}

/** Logs each request when it ends, with status 499 when the caller disconnected first. */
export function requestLog(ctx: Context) {
  const logRequest = frequentLine(ctx.log, 'request.served')
  return (request: Request, response: Response, next: NextFunction): void => {
    const began = performance.now()
    response.on('close', () => {
      const { method } = request
      const route = routeOf(request)
      const status = response.writableFinished ? response.statusCode : 499
      const durationMs = performance.now() - began
      const traceparent = readTraceparent(request.headers.traceparent)
      const isStream = String(response.getHeader('content-type')).startsWith('text/event-stream')
      const countedMethod = methods.has(method) ? method : 'OTHER'
      ctx.metrics.served({ method: countedMethod, route, status, durationMs, isStream, traceparent })
      const { organizationId, workspaceId, keyId, userId }: CallerIds = response.locals.caller ?? {}
      logRequest({
        request: requestIdOf(response),
        trace: traceparent?.slice(3, 35),
        method,
        path: loggedPath(route, request),
        status,
        durationMs: Math.round(durationMs),
        organization: organizationId && toId('org', organizationId),
        workspace: workspaceId && toId('ws', workspaceId),
        key: keyId && toId('key', keyId),
        user: userId && toId('user', userId),
      })
    })
    next()
  }
}

type CallerIds = { organizationId?: string; workspaceId?: string; keyId?: string; userId?: string }

/** Names the caller in the log line of a request, also if the request is refused afterwards. */
export function logCaller({ res }: Request, ids: CallerIds): void {
  if (res) res.locals.caller = Object.assign(res.locals.caller ?? {}, ids)
}

// Callers can send any method; metrics need few values.
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

// Returns the pattern of the path, with the ids in it. Everything else that a caller can write into a path may be a
// credential.
function loggedPath(route: string, request: Request): string {
  if (!route.includes(':')) return route
  return route.replace(/:(\w+)/g, (parameter, name: string) => {
    const value = request.params[name]
    return typeof value === 'string' && id.test(value) ? value : parameter
  })
}

const id = /^(?:org|ws|user|task|cron|evt|run|key|sec|inv|int|sub|op)_[0-9a-z]{26}$/

/** Returns the pattern of the path that a request was served under; `none` when no route matched. */
function routeOf({ baseUrl, route }: Request): string {
  return baseUrl || (typeof route?.path === 'string' ? route.path : 'none')
}

/** Makes each request a span of its caller's trace, or of a new one, and replaces its `traceparent` with the span's. */
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
