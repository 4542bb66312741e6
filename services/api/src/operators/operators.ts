import type { BoardQueues } from '@belfry/queue/board'
import { Router } from 'express'
import type { Context } from '../context.ts'
import { hosts } from './hosts.ts'
import { operatorLogin } from './operator-login.ts'
import { queueBoard } from './queue-board.ts'
import { sameOrigin } from './same-origin.ts'

/** What operators of the installation see and do, under `/admin`. */
export function operators(ctx: Context, queues: BoardQueues, password: string): Router {
  const router = Router()
  router.use(['/queues', '/hosts'], operatorLogin(ctx, password), sameOrigin)
  router.use('/hosts', hosts(ctx))
  router.use('/queues', queueBoard(ctx, queues))
  return router
}
