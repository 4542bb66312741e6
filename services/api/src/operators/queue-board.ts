import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createBullBoard } from '@bull-board/api'
import { ExpressAdapter } from '@bull-board/express'
import { type NextFunction, type Request, type Response, Router } from 'express'
import type { Context } from '../context.ts'
import { deadLetterQueue, waitingWork } from './database-queue.ts'
import { deadLetterActions } from './dead-letter-actions.ts'

const boardPath = '/admin/queues'

// The pages have styles in attributes; everything else is a file of this server.
const policy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:"],
  ...["connect-src 'self'", "font-src 'self'", "base-uri 'self'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ')

const withoutRedis = {
  environment: { label: 'Without a Redis, this is read from PostgreSQL.', color: '#336791', textColor: 'white' },
  hideRedisDetails: true,
}

/** Makes the board for operators: the jobs of BullMQ, or without a Redis the waiting tasks, and the dead letters. */
export function queueBoard(ctx: Context): Router {
  const board = new ExpressAdapter().setBasePath(boardPath)
  createBullBoard({
    queues: [...(ctx.boardQueues?.adapters ?? [waitingWork(ctx.pool)]), deadLetterQueue(ctx.pool)],
    serverAdapter: board,
    options: {
      uiBasePath: findPages(),
      uiConfig: {
        boardTitle: 'Belfry queues',
        hideDocsLink: true,
        showMetrics: false,
        showWorkers: false,
        ...(ctx.boardQueues === null && withoutRedis),
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
  response.setHeader('Referrer-Policy', 'no-referrer')
  const send = response.send.bind(response)
  response.send = body => send(typeof body === 'string' ? withoutOutsideLinks(body) : body)
  next()
}

// The page loads a typeface from another site.
function withoutOutsideLinks(html: string): string {
  return html.replaceAll(/<link[^>]*href="https?:[^>]*>/g, '')
}
