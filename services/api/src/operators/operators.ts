import type { BoardQueues } from '@belfry/queue/board'
import { Router } from 'express'
import type { Context } from '../context.ts'
import { databaseBoard } from './database-board.ts'
import { hosts } from './hosts.ts'
import { operatorLogin } from './operator-login.ts'
import { queueBoard } from './queue-board.ts'
import { sameOrigin } from './same-origin.ts'

/**
 * What operators of the installation see and do, under `/admin`.
 * @param queues - Null when there is no Redis: the board reads PostgreSQL instead.
 */
export function operators(ctx: Context, queues: BoardQueues | null, password: string): Router {
  const router = Router()
  router.use(['/queues', '/hosts'], operatorLogin(ctx, password), sameOrigin)
  router.use('/hosts', hosts(ctx))
  router.use('/queues', queueBoard(ctx, queues ?? databaseBoard(ctx.pool)))
  return router
}
