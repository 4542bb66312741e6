import { operations } from '@belfry/contract/operations'
import { AppError } from '@belfry/domain/app-error'
import { fromId } from '@belfry/domain/id'
import type { Request } from 'express'
import { requireApiKeyInForce } from '../../auth/api-key.ts'
import { authorize, type CallerOf } from '../../auth/authorize.ts'
import type { Context, RunStream } from '../../context.ts'
import { endpoint } from '../../endpoint.ts'
import { Reply } from '../../http/reply.ts'
import { visibleWorkspaces } from '../list-runs.ts'
import { runEvents } from './run-events.ts'

export const streamRuns = endpoint(operations.streamRuns, async (ctx, { caller, request }) => {
  const { workspaceId, apiKeyId } = caller
  const check = () =>
    apiKeyId === null ? authorize(ctx, request, 'run.read', {}) : requireApiKeyInForce(ctx, apiKeyId)
  return openRunStream(ctx, request, caller, [workspaceId], check)
})

export const streamOrganizationRuns = endpoint(
  operations.streamOrganizationRuns,
  async (ctx, { caller, params, request }) => {
    const workspaceIds = await visibleWorkspaces(ctx, caller)
    // Also ends when the visible workspaces change: clients reconnect by themselves.
    const check = async () => {
      const now = await visibleWorkspaces(ctx, await authorize(ctx, request, 'organization_run.read', params))
      if (now.join() !== workspaceIds.join()) throw new Error('The workspaces have changed.')
    }
    return openRunStream(ctx, request, caller, workspaceIds, check)
  },
)

// Each stream holds a connection and its buffered events.
const maxOfProcess = 200
const maxOfOrganization = 20
// A browser opens at most six connections to Belfry over HTTP/1.1, so one is left for other requests.
const maxOfCredential = 5
/** The maximum number of workspaces of one stream. */
const maxWorkspaces = 100

/** Returns the new runs of some workspaces as a stream of events. */
function openRunStream(
  ctx: Context,
  request: Request,
  caller: CallerOf<'run.read' | 'organization_run.read'>,
  workspaceIds: readonly string[],
  check: () => Promise<unknown>,
): Reply {
  const { organizationId } = caller
  const credential = caller.apiKeyId ?? caller.user?.sessionId ?? ''
  requirePlace(ctx, credential, organizationId)
  const stream: RunStream = { credential, organizationId, end: new AbortController() }
  const release = () => {
    stream.end.abort()
    ctx.runStreams.delete(stream)
  }
  ctx.runStreams.add(stream)
  request.res?.once('close', release)
  // The response of a caller that left while its rights were checked is closed already.
  if (request.res?.destroyed) release()
  const pieces = runEvents(ctx, {
    workspaceIds: workspaceIds.slice(0, maxWorkspaces),
    after: fromId('run', String(request.headers['last-event-id'] ?? '')) ?? undefined,
    check,
    over: AbortSignal.any([stream.end.signal, ctx.stopping]),
  })
  return new Reply({
    status: 200,
    pieces,
    headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' },
  })
}

function requirePlace({ stopping, runStreams }: Context, credential: string, organizationId: string): void {
  if (stopping.aborted || runStreams.size >= maxOfProcess) {
    throw new AppError('unavailable', 'Too many streams are open. Try again later, or poll the list of runs.')
  }
  const open = [...runStreams].filter(stream => stream.organizationId === organizationId)
  if (open.filter(stream => stream.credential === credential).length >= maxOfCredential) {
    throw tooMany(`An API key or a session may hold ${maxOfCredential} streams.`)
  }
  if (open.length >= maxOfOrganization) throw tooMany(`An organization may hold ${maxOfOrganization} streams.`)
}

function tooMany(limit: string): AppError {
  return new AppError('rate_limited', `${limit} Close another one, or poll the list of runs.`, { retryAfterMs: 5_000 })
}
