import { AppError, fromId } from '@belfry/domain'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import type { Reply } from '../http/reply.ts'
import { runEvents } from './run-events.ts'

/** How many streams one process serves; each costs a connection and a look a second at what it watches. */
const mostStreams = 200
/** How many workspaces one stream watches. */
const mostWatched = 100

/** Answers with the new runs of some workspaces as they come. */
export function openRunStream(
  ctx: Context,
  request: Request,
  workspaceIds: readonly string[],
  check: () => Promise<unknown>,
): Reply {
  if (ctx.stopping.aborted || ctx.runStreams.size >= mostStreams) {
    throw new AppError('unavailable', 'Too many streams are open. Try again later, or poll the list of runs.')
  }
  const left = new AbortController()
  request.res?.once('close', () => {
    left.abort()
    ctx.runStreams.delete(left)
  })
  ctx.runStreams.add(left)
  const pieces = runEvents(ctx, {
    workspaceIds: workspaceIds.slice(0, mostWatched),
    after: fromId('run', String(request.headers['last-event-id'] ?? '')) ?? undefined,
    check,
    over: left.signal,
  })
  return {
    status: 200,
    pieces,
    headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' },
  }
}
