import { AppError, fromId } from '@belfry/domain'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import type { Reply } from '../http/reply.ts'
import { runEvents } from './run-events.ts'

/** The maximum number of streams of one process; each costs a connection and a query per second and workspace. */
const maxStreams = 200
/** The maximum number of workspaces of one stream. */
const maxWorkspaces = 100

/** Returns the new runs of some workspaces as a stream of events. */
export function openRunStream(
  ctx: Context,
  request: Request,
  workspaceIds: readonly string[],
  check: () => Promise<unknown>,
): Reply {
  if (ctx.stopping.aborted || ctx.runStreams.size >= maxStreams) {
    throw new AppError('unavailable', 'Too many streams are open. Try again later, or poll the list of runs.')
  }
  const left = new AbortController()
  request.res?.once('close', () => {
    left.abort()
    ctx.runStreams.delete(left)
  })
  ctx.runStreams.add(left)
  const pieces = runEvents(ctx, {
    workspaceIds: workspaceIds.slice(0, maxWorkspaces),
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
