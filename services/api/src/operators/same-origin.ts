import { AppError, parseUrl } from '@belfry/domain'
import type { NextFunction, Request, Response } from 'express'

/** Refuses changes that another site has a browser make: it sends the operator's password along by itself. */
export function sameOrigin(request: Request, _response: Response, next: NextFunction): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const isForeign = origin !== undefined && parseUrl(origin)?.host !== host
  const isFromElsewhere = site !== undefined && site !== 'same-origin' && site !== 'none'
  if (!isRead && (isForeign || isFromElsewhere)) {
    throw new AppError('forbidden', 'Changes must come from the board itself.')
  }
  next()
}
