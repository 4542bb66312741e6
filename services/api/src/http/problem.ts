import { type Problem, problems } from '@belfry/contract/problem'
import { isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import { AppError } from '@belfry/domain/app-error'
import type { NextFunction, Request, Response } from 'express'
import type { Context } from '../context.ts'
import { requestIdOf } from './request-log.ts'
import { type ResponseParts, sendResponse } from './response.ts'

/**
 * Converts a thrown value to a problem body (RFC 9457). `sendParserRefusals` is the only other place that writes problem
 * bodies.
 * @param present - Returns the response to a refusal. Default: a problem body.
 */
export function problemHandler(ctx: Context, present: typeof presentProblem = presentProblem) {
  return (error: unknown, request: Request, response: Response, _next: NextFunction): void => {
    const refusal = toRefusal(error)
    ctx.metrics.refused(refusal.code)
    if (refusal.code === 'internal') ctx.log.error({ err: error, request: requestIdOf(response) }, 'request.fault')
    if (refusal.code === 'unavailable') ctx.log.warn({ err: error }, 'request.unavailable')
    if (response.headersSent) {
      response.destroy()
      return
    }
    // The rest of an unread body must not be parsed as the next request.
    if (!request.complete) response.setHeader('Connection', 'close')
    void sendResponse(response, present(ctx, refusal, response))
  }
}

function presentProblem(ctx: Context, refusal: AppError, response: Response): ResponseParts {
  return problemResponse(ctx, refusal, requestIdOf(response))
}

export function toRefusal(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (error instanceof URIError) return new AppError('not_found', 'The path is not a valid URL path.')
  if (isTransientDatabaseError(error) || isTransientDatabaseError(Object(error).cause)) {
    return new AppError('unavailable', 'The service cannot reach its database. Try again in a moment.')
  }
  return new AppError('internal', 'Something went wrong on our side. Include the request id when you report it.')
}

export function problemResponse(ctx: Context, refusal: AppError, requestId: string) {
  const { status, title } = problems[refusal.code]
  const body: Problem = {
    type: `${ctx.config.publicUrl}/api/problems/${refusal.code}`,
    title,
    status,
    detail: refusal.message,
    code: refusal.code,
    request_id: requestId,
    ...refusal.extra,
    ...(refusal.errors ? { errors: refusal.errors } : {}),
  }
  const headers: Record<string, string> = { 'Content-Type': 'application/problem+json; charset=utf-8' }
  if (refusal.code === 'unauthenticated') headers['WWW-Authenticate'] = 'Bearer realm="belfry", ApiKey realm="belfry"'
  if (problems[refusal.code].status === 503) headers['Retry-After'] = '5'
  if (refusal.retryAfterMs !== undefined) headers['Retry-After'] = String(Math.ceil(refusal.retryAfterMs / 1000))
  return { status, body, headers }
}
