import type { Page } from '@belfry/contract/page'
import type { Run, RunDetail, RunPage } from '@belfry/contract/run'
import type { RunCounts } from '@belfry/contract/run-counts'
import type { RunFailures } from '@belfry/contract/run-failures'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call, queryText } from './call.ts'
import { followEvents, type StreamedEvent } from './follow-events.ts'
import { type ListQuery, listOptions, objectOptions } from './page.ts'

const base = '/api/v1/scheduler/runs'

/** The log of one workspace or, when `workspaceId` is null, of all workspaces that the user may see. */
export type LogScope = { organizationId: string; workspaceId: string | null }

export function runsQuery(workspaceId: string, query: ListQuery = {}) {
  return listOptions<Run>(['runs', workspaceId], base, query, workspaceId)
}

/** Queries the failed runs since a time, in groups. */
export function failuresQuery(workspaceId: string, from: string | undefined) {
  const read = objectOptions<RunFailures>(['failures', workspaceId, from], `${base}/failures`, workspaceId, { from })
  const isGiven = from !== undefined
  return queryOptions({ ...read, enabled: isGiven, refetchInterval: 5_000, placeholderData: keepPreviousData })
}

/** Queries how many runs succeeded and failed over a time. */
export function countsQuery(workspaceId: string, time: { from?: string; to?: string }) {
  const read = objectOptions<RunCounts>(['counts', workspaceId, time], `${base}/counts`, workspaceId, time)
  return queryOptions({ ...read, refetchInterval: 10_000, placeholderData: keepPreviousData })
}

export function runQuery(workspaceId: string, runId: string) {
  const read = objectOptions<RunDetail>(['run', workspaceId, runId], `${base}/${runId}`, workspaceId)
  return queryOptions({ ...read, staleTime: Number.POSITIVE_INFINITY }) // a recorded attempt never changes
}

/** Queries all attempts of a task, oldest first. A task has at most 21. */
export function attemptsQuery(workspaceId: string, taskId: string) {
  return queryOptions({
    queryKey: ['attempts', workspaceId, taskId],
    queryFn: async ({ signal }) => {
      const query = { task_id: taskId, limit: 100 }
      const page = await call<Page<Run>>('GET', base, { query, workspaceId, signal })
      return page.data.sort((a, b) => a.attempt - b.attempt)
    },
  })
}

/** Reads one page of a log, newest first. A short or empty page may still have a next one. */
export function readLogPage(
  { organizationId, workspaceId }: LogScope,
  query: ListQuery,
  signal: AbortSignal,
): Promise<RunPage> {
  if (workspaceId !== null) return call('GET', base, { query, workspaceId, signal })
  return call('GET', `/api/v1/organizations/${organizationId}/runs`, { query, signal })
}

export type LogHandlers = {
  onRun(run: Run): void
  /** Receives the minimum number of runs that were left out because too many ended at a time. */
  onOmitted?(count: number): void
  /** Receives whether the stream is connected. */
  onConnected?(isConnected: boolean): void
}

/** Calls `handlers` with the new runs of a log until `signal` aborts. */
export function followLog(
  { organizationId, workspaceId }: LogScope,
  handlers: LogHandlers,
  signal: AbortSignal,
): Promise<void> {
  const onEvent = toHandler(handlers)
  const { onConnected } = handlers
  if (workspaceId !== null) return followEvents(`${base}/stream`, { workspaceId, onEvent, onConnected, signal })
  return followEvents(`/api/v1/organizations/${organizationId}/runs/stream`, { onEvent, onConnected, signal })
}

/** Returns the URL of an export. It is on the organization, because a link cannot send the workspace header. */
export function exportUrl(
  { organizationId, workspaceId }: LogScope,
  query: ListQuery,
  format: 'csv' | 'jsonl',
): string {
  const workspace = workspaceId === null ? {} : { workspace_id: workspaceId }
  return `/api/v1/organizations/${organizationId}/runs/export${queryText({ ...query, ...workspace, format })}`
}

// The contract promises this data for each event name.
function toHandler({ onRun, onOmitted }: LogHandlers) {
  return ({ name, data }: StreamedEvent) => {
    if (name === 'run') onRun(JSON.parse(data) as Run)
    if (name === 'omitted') onOmitted?.((JSON.parse(data) as { count: number }).count)
  }
}
