import { readEvents } from '@belfry/client/server-sent-events'
import type { Run, RunPage } from '@belfry/contract/run'
import { ApiProblem } from './api-problem.ts'
import { type Query, read, urlOf } from './call.ts'

/** The log of one workspace or, when `ws` is null, of all workspaces that the user may see. */
export type LogScope = { org: string; ws: string | null }

/** Reads one page of a log, newest first. A short or empty page may still have a next one. */
export function readLogPage({ org, ws }: LogScope, query: Query, signal: AbortSignal): Promise<RunPage> {
  return ws === null ? read('listOrganizationRuns', { org, query, signal }) : read('listRuns', { ws, query, signal })
}

type LogHandlers = {
  onRun(run: Run): void
  /** Receives the minimum number of runs that were left out because too many ended at a time. */
  onOmitted?(count: number): void
  /** Receives whether the stream is connected. */
  onConnected?(isConnected: boolean): void
}

const pauseMs = 2000
// The API sends a comment every 15 seconds.
const maxSilenceMs = 35_000

/**
 * Calls `handlers` with the new runs of a log until `signal` aborts. Resumes after a lost connection. Rejects when the API
 * answers with a 4xx status. An EventSource could not send the workspace header.
 */
export async function followLog({ org, ws }: LogScope, handlers: LogHandlers, signal: AbortSignal): Promise<void> {
  const { onRun, onOmitted, onConnected } = handlers
  const path = ws === null ? urlOf('streamOrganizationRuns', { org }) : urlOf('streamRuns', { ws })
  let lastId: string | undefined
  while (!signal.aborted) {
    let stream: ReturnType<typeof readEvents> | undefined
    const lost = new AbortController()
    const onLost = () => lost.abort()
    window.addEventListener('offline', onLost)
    try {
      const response = await fetch(path, {
        signal: AbortSignal.any([signal, lost.signal]),
        headers: {
          Accept: 'text/event-stream',
          ...(ws ? { 'X-Workspace-Id': ws } : {}),
          ...(lastId ? { 'Last-Event-ID': lastId } : {}),
        },
      })
      if (response.status >= 400 && response.status < 500) throw new ApiProblem(response.status, await response.json())
      onConnected?.(response.ok)
      stream = response.body ? readEvents(response.body, maxSilenceMs) : undefined
      for await (const { name, data } of stream?.events ?? []) {
        // The contract promises this data for each name.
        if (name === 'run') onRun(JSON.parse(data) as Run)
        if (name === 'omitted') onOmitted?.((JSON.parse(data) as { count: number }).count)
      }
    } catch (error) {
      if (error instanceof ApiProblem && !signal.aborted) throw error
    } finally {
      window.removeEventListener('offline', onLost)
    }
    if (signal.aborted) return
    lastId = stream?.lastId() || lastId
    onConnected?.(false)
    // Each pause has a signal, so listeners do not accumulate on the signal of the page.
    const pause = AbortSignal.any([signal, AbortSignal.timeout(pauseMs)])
    await new Promise(resolve => pause.addEventListener('abort', resolve))
  }
}
