import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { insertAuditEntry } from '@belfry/db/audit-log'
import { type DeadLetter, findDeadLetters, listDeadLetters } from '@belfry/db/dead-letters/all-dead-letters'
import { type SettleAction, settleDeadLetters } from '@belfry/db/dead-letters/settle-dead-letters'
import { inTransaction, type Transaction } from '@belfry/db/postgres/in-transaction'
import type { AuditAction } from '@belfry/domain/audit-action'
import { fromId, toId } from '@belfry/domain/id'
import { createBullBoard } from '@bull-board/api'
import { ExpressAdapter } from '@bull-board/express'
import { type NextFunction, type Request, type Response, Router } from 'express'
import { callerAddress } from '../auth/caller-address.ts'
import type { Context } from '../context.ts'
import { enqueue } from '../tasks/schedule.ts'
import { DeadLetterQueue } from './dead-letter-queue.ts'

const boardPath = '/admin/queues'

// The pages have styles in attributes; everything else is a file of this server.
const policy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:"],
  ...["connect-src 'self'", "font-src 'self'", "base-uri 'self'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ')

/** Makes the board for operators: the jobs of BullMQ, if there is a Redis, and the dead letters. */
export function queueBoard(ctx: Context): Router {
  const board = new ExpressAdapter().setBasePath(boardPath)
  createBullBoard({
    queues: [...(ctx.boardQueues?.adapters ?? []), new DeadLetterQueue(ctx.pool)],
    serverAdapter: board,
    options: {
      uiBasePath: findPages(),
      uiConfig: {
        boardTitle: 'Belfry queues',
        hideDocsLink: true,
        showMetrics: false,
        showWorkers: false,
        hideRedisDetails: ctx.boardQueues === null,
      },
    },
  })
  const router = Router()
  router.use(onlyOurFiles)
  router.use(deadLetterActions(ctx))
  router.use(board.getRouter())
  return router
}

// The pages are next to the API's bundle, or in their package.
function findPages(): string {
  const beside = join(import.meta.dirname, '../../../services/api/dist/bull-board')
  if (existsSync(beside)) return beside
  return dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json'))
}

function onlyOurFiles(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Content-Security-Policy', policy)
  const send = response.send.bind(response)
  // The page loads a typeface from another site.
  response.send = body => send(typeof body === 'string' ? body.replaceAll(/<link[^>]*href="https?:[^>]*>/g, '') : body)
  next()
}

// The maximum for one click; another click continues.
const maxAtOnce = 1_000

const path = '/api/queues/dead-letter'

/** Lets the board replay and discard dead letters. Rejects every other change of a queue. */
function deadLetterActions(ctx: Context): Router {
  const router = Router()

  const settleOne =
    (action: 'replay' | 'discard') => async (request: Request<{ task: string }>, response: Response) => {
      const id = fromId('task', request.params.task)
      const found = id === null ? [] : await findDeadLetters(ctx.pool, [id])
      const settled = await settleAsOperator(ctx, found, action, callerAddress(request))
      if (settled === 1) response.status(204).end()
      else response.status(409).json({ error: { key: 'ERRORS.JOB_NOT_FOUND' }, message: alreadySettled })
    }

  const settleAll = (action: 'replay' | 'discard') => async (request: Request, response: Response) => {
    const tasks = await listDeadLetters(ctx.pool, 0, maxAtOnce - 1)
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
 * Replays or discards dead letters as an operator, like their workspaces could: a replay is a new task, and each dead
 * letter is settled at most once. Records each in the audit log of its organization.
 */
async function settleAsOperator(ctx: Context, tasks: readonly DeadLetter[], action: SettleAction, address: string) {
  const recorded = action === 'replay' ? 'dead_letter.replayed' : 'dead_letter.discarded'
  let count = 0
  for (const workspaceId of new Set(tasks.map(task => task.workspaceId))) {
    const ids = tasks.filter(task => task.workspaceId === workspaceId).map(({ id }) => id)
    const { deadLetters, replays, now } = await inTransaction(ctx.pool, async tx => {
      const settled = await settleDeadLetters(tx, workspaceId, ids, action)
      const objectIds = settled.deadLetters.map(id => toId('task', id))
      await auditAsOperator(tx, { workspaceId, action: recorded, address }, objectIds)
      return settled
    })
    enqueue(ctx, replays, now)
    ctx.log.info({ workspace: toId('ws', workspaceId), action, dead_letters: deadLetters.length }, 'operator.settled')
    count += deadLetters.length
  }
  return count
}

type OperatorAction = { workspaceId: string; action: AuditAction; address: string }

/** Records an action of an operator in the audit log of a workspace's organization, once for each object. */
export async function auditAsOperator(tx: Transaction, by: OperatorAction, objectIds: readonly string[]) {
  const text = 'SELECT organization_id AS id FROM workspaces WHERE id = $1'
  const { rows } = await tx.query<{ id: string }>(text, [by.workspaceId])
  const entry = { ...by, userId: null, apiKeyId: null, details: { by: 'operator' } }
  for (const objectId of objectIds) {
    await insertAuditEntry(tx, { ...entry, organizationId: rows[0]?.id ?? by.workspaceId, objectId })
  }
}
