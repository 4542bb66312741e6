import { operations } from '@belfry/contract/operations'
import { AppError } from '@belfry/domain/app-error'
import { fromId, toId } from '@belfry/domain/id'
import { presentRun } from '@belfry/present/present-run'
import { toJsonText } from '@belfry/present/raw-json'
import type { RunRow } from '@belfry/present/run-row'
import { createWaker } from '@belfry/runtime'
import type { Request } from 'express'
import { authorize, authorizeAgain, type CallerOf } from '../../auth/authorize.ts'
import type { Context, RunStream } from '../../context.ts'
import { endpoint } from '../../endpoint.ts'
import { recheckMs, repeatCheck } from '../../http/repeat-check.ts'
import { ApiResponse, whenOver } from '../../http/response.ts'
import { visibleWorkspaces } from '../list-runs.ts'
import { runsAfter, type SomeRuns } from './follow-runs.ts'

export const streamRuns = endpoint(operations.streamRuns, async (ctx, { caller, request }) => {
  const check = () => authorizeAgain(ctx, request, 'run.read')
  return openRunStream(ctx, request, caller, [caller.workspaceId], check)
})

export const streamOrganizationRuns = endpoint(operations.streamOrganizationRuns, async (ctx, input) => {
  const { caller, params, request } = input
  const workspaceIds = await visibleWorkspaces(ctx, caller)
  // Also ends when the visible workspaces change: clients reconnect by themselves.
  const check = async () => {
    const now = await visibleWorkspaces(ctx, await authorize(ctx, request, 'organization_run.read', params))
    if (now.join() !== workspaceIds.join()) throw new Error('The workspaces have changed.')
  }
  return openRunStream(ctx, request, caller, workspaceIds, check)
})

// Each stream holds a connection and its buffered events.
const maxOfProcess = 200
const maxOfOrganization = 20
// A browser opens at most six connections to Belfry over HTTP/1.1, so one is left for other requests.
const maxOfCredential = 5
const maxWorkspaces = 100

function openRunStream(
  ctx: Context,
  request: Request,
  caller: CallerOf<'run.read' | 'organization_run.read'>,
  workspaceIds: readonly string[],
  check: () => Promise<unknown>,
): ApiResponse {
  const { organizationId } = caller
  const credential = caller.apiKeyId ?? caller.user?.sessionId ?? ''
  requirePlace(ctx, credential, organizationId)
  const stream: RunStream = { credential, organizationId, end: new AbortController() }
  const release = () => {
    stream.end.abort()
    ctx.runStreams.delete(stream)
  }
  ctx.runStreams.add(stream)
  whenOver(request, release)
  const pieces = runEvents(ctx, {
    workspaceIds: workspaceIds.slice(0, maxWorkspaces),
    after: fromId('run', String(request.headers['last-event-id'] ?? '')) ?? undefined,
    check,
    over: AbortSignal.any([stream.end.signal, ctx.stopping]),
  })
  return new ApiResponse({
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

const heartbeatMs = 15_000
// The characters of the events that are buffered for a slow listener; beyond them its stream ends.
const maxWaiting = 2_000_000

type Watch = {
  workspaceIds: readonly string[]
  /** The id of the last event that the caller has received. */
  after: string | undefined
  /** Rejects when the caller may no longer listen. */
  check(): Promise<unknown>
  /** Aborted when the caller disconnects or this process is to stop. */
  over: AbortSignal
}

/**
 * Yields the new runs of some workspaces as server-sent events, until the caller disconnects or loses the right to see
 * them.
 */
export async function* runEvents(ctx: Context, { workspaceIds, after, check, over }: Watch): AsyncGenerator<string> {
  const waiting: string[] = []
  let waitingLength = 0
  const sent = new Set<string>()
  const upTos = new Map<string, string>()
  const waker = createWaker()
  const checkAgain = repeatCheck(check)
  const stops = workspaceIds.map(workspaceId =>
    ctx.runTails.listen(workspaceId, ({ runs, omitted, upTo }) => {
      if (waitingLength > maxWaiting) return
      upTos.set(workspaceId, upTo)
      const events = runs.filter(({ id }) => !sent.has(id)).map(toEvent)
      if (omitted > 0) events.push(toOmitted(omitted))
      waiting.push(...events)
      waitingLength += events.reduce((sum, { length }) => sum + length, 0)
      waker.wake()
    }),
  )
  try {
    yield 'retry: 2000\n\n'
    let place = after
    let behind = after
    let beatAt = performance.now()
    while (!over.aborted && waitingLength <= maxWaiting) {
      try {
        await checkAgain()
      } catch {
        return // also when the check fails
      }
      const upTo = upTos.size === workspaceIds.length ? [...upTos.values()].sort()[0] : undefined
      // Only now: a long call that ends before the first look at its workspace is in no news.
      if (behind !== undefined && upTo !== undefined) {
        waiting.length = 0 // the backlog has these
        waitingLength = 0
        const { runs, omitted } = await backlog(ctx, workspaceIds, behind)
        for (const run of runs) {
          sent.add(run.id)
          yield toText([toEvent(run)], after)
        }
        if (omitted > 0) yield toText([toOmitted(omitted)], after)
        behind = undefined
        continue
      }
      const hasNews = behind === undefined && (waiting.length > 0 || (place === undefined && upTo !== undefined))
      if (hasNews || performance.now() - beatAt >= heartbeatMs) {
        if (hasNews) place = upTo ?? place
        waitingLength = 0
        yield hasNews ? toText(waiting.splice(0), place) : ': still here\n\n'
        beatAt = performance.now()
        continue
      }
      await waker.pause(recheckMs, over)
    }
  } finally {
    for (const stop of stops) stop()
  }
}

async function backlog(ctx: Context, workspaceIds: readonly string[], after: string): Promise<SomeRuns> {
  const all: SomeRuns = { runs: [], omitted: 0 }
  for (const workspaceId of workspaceIds) {
    const { runs, omitted } = await runsAfter(ctx.pool, workspaceId, after)
    all.runs.push(...runs)
    all.omitted += omitted
  }
  all.runs.sort((a, b) => (a.id < b.id ? -1 : 1))
  return all
}

function toEvent(run: RunRow): string {
  return `event: run\ndata: ${toJsonText(presentRun(run))}\n\n`
}

function toOmitted(count: number): string {
  return `event: omitted\ndata: ${JSON.stringify({ count })}\n\n`
}

// The id belongs to the last event, and is not the id of its run: a returning listener has received all runs up to it.
function toText(events: string[], place: string | undefined): string {
  const last = events.pop() ?? '\n'
  return `${events.join('')}${place === undefined ? '' : `id: ${toId('run', place)}\n`}${last}`
}
