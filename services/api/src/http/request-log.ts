import type { NextFunction, Request, Response } from 'express'
import type { Context } from '../context.ts'
import { requestIdOf } from './request-id.ts'

/** Writes one line per request when it is over; 499 when the caller left first. */
export function requestLog(ctx: Context) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const began = performance.now()
    response.once('close', () => {
      ctx.log.info(
        {
          request: requestIdOf(response),
          method: request.method,
          path: withoutToken(request.path),
          status: response.writableFinished ? response.statusCode : 499,
          durationMs: Math.round(performance.now() - began),
        },
        'request.served',
      )
    })
    next()
  }
}

// Whoever has the token of an invitation may accept it.
function withoutToken(path: string): string {
  return path.replace(/(\/invitations\/)(?!inv_)[^/]+/, '$1…')
}
