import { type SettleAction, settleDeadLetters } from '@belfry/db/dead-letters/settle-dead-letters'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { type BoardTask, findBoardTasks, listBoardTasks } from '@belfry/db/tasks/board-tasks'
import { fromId, toId } from '@belfry/domain/id'
import { type NextFunction, type Request, type Response, Router } from 'express'
import { callerAddress } from '../auth/caller-address.ts'
import type { Context } from '../context.ts'
import { enqueue } from '../tasks/schedule.ts'
import { auditAsOperator } from './audit-as-operator.ts'

// The maximum for one click; another click continues.
const maxAtOnce = 1_000

const path = '/api/queues/dead-letter'

/** Lets the board replay and discard dead letters. Rejects every other change of a queue. */
export function deadLetterActions(ctx: Context): Router {
  const router = Router()

  const settleOne =
    (action: 'replay' | 'discard') => async (request: Request<{ task: string }>, response: Response) => {
      const id = fromId('task', request.params.task)
      const found = id === null ? [] : await findBoardTasks(ctx.pool, [id])
      const settled = await settleAsOperator(ctx, found, action, callerAddress(request))
      if (settled === 1) response.status(204).end()
      else response.status(409).json({ error: { key: 'ERRORS.JOB_NOT_FOUND' }, message: alreadySettled })
    }

  const settleAll = (action: 'replay' | 'discard') => async (request: Request, response: Response) => {
    const tasks = await listBoardTasks(ctx.pool, 'failed', 0, maxAtOnce - 1)
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

/**
 * Replays or discards dead letters as an operator, like their workspaces could: a replay is a new task, and no dead letter is
 * settled twice. Records each in the audit log of its organization.
 * @param tasks - Those that are no dead letters are ignored.
 * @returns The number of settled dead letters.
 */
async function settleAsOperator(
  ctx: Context,
  tasks: readonly BoardTask[],
  action: SettleAction,
  address: string,
): Promise<number> {
  let settled = 0
  for (const workspaceId of new Set(tasks.map(task => task.workspaceId))) {
    const ofWorkspace = tasks.filter(task => task.workspaceId === workspaceId).map(({ id }) => id)
    settled += await settleOfWorkspace(ctx, { workspaceId, ids: ofWorkspace, action, address })
  }
  return settled
}

type Settlement = { workspaceId: string; ids: string[]; action: SettleAction; address: string }

async function settleOfWorkspace(ctx: Context, { workspaceId, ids, action, address }: Settlement): Promise<number> {
  const { deadLetters, replays, now } = await inTransaction(ctx.pool, async tx => {
    const settled = await settleDeadLetters(tx, workspaceId, ids, action)
    const recorded = action === 'replay' ? 'dead_letter.replayed' : 'dead_letter.discarded'
    const objectIds = settled.deadLetters.map(id => toId('task', id))
    await auditAsOperator(tx, { workspaceId, action: recorded, address }, objectIds)
    return settled
  })
  enqueue(ctx, replays, now)
  ctx.log.info({ workspace: toId('ws', workspaceId), action, dead_letters: deadLetters.length }, 'operator.settled')
  return deadLetters.length
}
