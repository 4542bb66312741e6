import type { BaseAdapter } from '@bull-board/api/baseAdapter'
import { type NextFunction, type Request, type Response, Router } from 'express'
import { callerAddress } from '../auth/caller-address.ts'
import type { Context } from '../context.ts'
import { settleLetters } from './settle-letters.ts'

// What one click may do; a second click does the next ones.
const maxAtOnce = 1_000

const letters = '/api/queues/dead-letter'

/** What the board may change: it replays and discards dead letters. Everything else that would change a queue is refused. */
export function letterActions(ctx: Context, deadLetters: BaseAdapter): Router {
  const router = Router()

  const settleOne =
    (action: 'replay' | 'discard') => async (request: Request<{ task: string }>, response: Response) => {
      const settled = await settleLetters(ctx, [request.params.task], action, callerAddress(request))
      if (settled === 1) response.status(204).end()
      else response.status(409).json({ error: { key: 'ERRORS.JOB_NOT_FOUND' }, message: alreadySettled })
    }

  const settleAll = (action: 'replay' | 'discard') => async (request: Request, response: Response) => {
    const shown = await deadLetters.getJobs(['failed'], 0, maxAtOnce - 1)
    const tasks = shown.map(job => String(job.toJSON().id))
    const retried = await settleLetters(ctx, tasks, action, callerAddress(request))
    response.json({ retried, skipped: tasks.length - retried })
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
