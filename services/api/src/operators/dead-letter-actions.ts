import type { BaseAdapter } from '@bull-board/api/baseAdapter'
import { type NextFunction, type Request, type Response, Router } from 'express'
import { callerAddress } from '../auth/caller-address.ts'
import type { Context } from '../context.ts'
import { settleAsOperator } from './settle-dead-letters.ts'

// The maximum for one click; another click continues.
const maxAtOnce = 1_000

const path = '/api/queues/dead-letter'

/** Lets the board replay and discard dead letters. Rejects every other change of a queue. */
export function deadLetterActions(ctx: Context, deadLetters: BaseAdapter): Router {
  const router = Router()

  const settleOne =
    (action: 'replay' | 'discard') => async (request: Request<{ task: string }>, response: Response) => {
      const settled = await settleAsOperator(ctx, [request.params.task], action, callerAddress(request))
      if (settled === 1) response.status(204).end()
      else response.status(409).json({ error: { key: 'ERRORS.JOB_NOT_FOUND' }, message: alreadySettled })
    }

  const settleAll = (action: 'replay' | 'discard') => async (request: Request, response: Response) => {
    const shown = await deadLetters.getJobs(['failed'], 0, maxAtOnce - 1)
    const tasks = shown.map(job => String(job.toJSON().id))
    const retried = await settleAsOperator(ctx, tasks, action, callerAddress(request))
    response.json({ retried, skipped: tasks.length - retried })
  }

  router.put(`${path}/retry/failed`, settleAll('replay'))
  router.put(`${path}/clean/failed`, settleAll('discard'))
  router.put(`${path}/:task/retry`, settleOne('replay'))
  router.put(`${path}/:task/clean`, settleOne('discard'))
  router.use((request: Request, response: Response, next: NextFunction) => {
    if (request.method === 'GET' || request.method === 'HEAD') return next()
    response.status(405).json({ error: { key: 'ERRORS.QUEUE_READ_ONLY' }, message: 'The board cannot change this.' })
  })
  return router
}

const alreadySettled = 'This is no longer a dead letter: it has been replayed or discarded.'
