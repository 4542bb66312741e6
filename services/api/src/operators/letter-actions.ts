import type { BoardQueues } from '@belfry/queue/board'
import { type NextFunction, type Request, type Response, Router } from 'express'
import { callerAddress } from '../auth/caller-address.ts'
import type { Context } from '../context.ts'
import { settleLetters } from './settle-letters.ts'

// What one click may do; a second click does the next ones.
const mostAtOnce = 1_000

const letters = '/api/queues/dead-letter'

/** What the board may change: it replays and discards dead letters. Everything else that would change a queue is refused. */
export function letterActions(ctx: Context, queues: BoardQueues): Router {
  const router = Router()

  const settleOne =
    (action: 'replay' | 'discard') => async (request: Request<{ task: string }>, response: Response) => {
      const letter = await queues.findLetter(request.params.task)
      const settled = letter ? await settleLetters(ctx, [letter], action, callerAddress(request)) : 0
      if (settled === 1) response.status(204).end()
      else response.status(409).json({ error: { key: 'ERRORS.JOB_NOT_FOUND' }, message: alreadySettled })
    }

  const settleAll = (action: 'replay' | 'discard') => async (request: Request, response: Response) => {
    const found = await queues.newestLetters(mostAtOnce)
    const retried = await settleLetters(ctx, found, action, callerAddress(request))
    response.json({ retried, skipped: found.length - retried })
  }

  router.put(`${letters}/retry/failed`, settleAll('replay'))
  router.put(`${letters}/clean/failed`, settleAll('discard'))
  router.put(`${letters}/:task/retry`, settleOne('replay'))
  router.put(`${letters}/:task/clean`, settleOne('discard'))
  router.use((request: Request, response: Response, next: NextFunction) => {
    if (request.method === 'GET' || request.method === 'HEAD') return next()
    response.status(405).json({ error: { key: 'ERRORS.QUEUE_READ_ONLY' }, message: 'The board cannot change this.' })
  })
  return router
}

const alreadySettled = 'It is no dead letter any more: somebody has replayed or discarded it.'
