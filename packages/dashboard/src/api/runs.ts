import type { Run, RunPage } from '@belfry/contract/run'
import { type Query, read, urlOf } from './call.ts'
import { followEvents, type StreamedEvent } from './follow-events.ts'

/** The log of one workspace or, when `ws` is null, of all workspaces that the user may see. */
export type LogScope = { org: string; ws: string | null }

/** Reads one page of a log, newest first. A short or empty page may still have a next one. */
export function readLogPage({ org, ws }: LogScope, query: Query, signal: AbortSignal): Promise<RunPage> {
  return ws === null ? read('listOrganizationRuns', { org, query, signal }) : read('listRuns', { ws, query, signal })
}

export type LogHandlers = {
  onRun(run: Run): void
  /** Receives the minimum number of runs that were left out because too many ended at a time. */
  onOmitted?(count: number): void
  /** Receives whether the stream is connected. */
  onConnected?(isConnected: boolean): void
}

/** Calls `handlers` with the new runs of a log until `signal` aborts. */
export function followLog({ org, ws }: LogScope, handlers: LogHandlers, signal: AbortSignal): Promise<void> {
  const follow = { onEvent: toHandler(handlers), onConnected: handlers.onConnected, signal }
  if (ws === null) return followEvents(urlOf('streamOrganizationRuns', { org }), follow)
  return followEvents(urlOf('streamRuns', { ws }), { ...follow, workspaceId: ws })
}

// The contract promises this data for each event name.
function toHandler({ onRun, onOmitted }: LogHandlers) {
  return ({ name, data }: StreamedEvent) => {
    if (name === 'run') onRun(JSON.parse(data) as Run)
    if (name === 'omitted') onOmitted?.((JSON.parse(data) as { count: number }).count)
  }
}
