import { AppError } from '@belfry/domain/app-error'
import { parseUrl } from '@belfry/domain/target-url'
import type { BoardQueues } from '@belfry/queue/board'
import { type NextFunction, type Request, type Response, Router } from 'express'
import type { Context } from '../context.ts'
import { databaseBoard } from './database-queue.ts'
import { hosts } from './hosts.ts'
import { operatorLogin } from './operator-login.ts'
import { queueBoard } from './queue-board.ts'

/**
 * Makes the pages of the operators of this installation, under `/admin`.
 * @param queues - Null without a Redis: the board reads PostgreSQL instead.
 */
export function operators(ctx: Context, queues: BoardQueues | null): Router {
  const router = Router()
  router.use(['/queues', '/hosts'], operatorLogin(ctx, ctx.config.operatorPassword), requireOwnPage)
  router.use('/hosts', hosts(ctx))
  router.use('/queues', queueBoard(ctx, queues ?? databaseBoard(ctx.pool)))
  return router
}

// Refuses changes that another site starts in a browser, which sends the operator's password along. Other than for a
// session cookie, a client that is no browser may send neither header.
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
