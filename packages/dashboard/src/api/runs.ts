import type { Page, Run, RunDetail } from '@belfry/contract'
import { queryOptions } from '@tanstack/react-query'
import { call, queryText } from './call.ts'
import { followEvents } from './follow-events.ts'
import { type ListQuery, listOptions } from './page.ts'
import type { StreamedEvent } from './read-event-stream.ts'

const base = '/api/v1/scheduler/runs'

/** Whose log: that of one workspace, or that of all workspaces of an organization that the user sees. */
export type LogScope = { organizationId: string; workspaceId: string | null }

export function runsQuery(workspaceId: string, query: ListQuery = {}) {
  return listOptions<Run>(['runs', workspaceId], base, query, workspaceId)
}

export function runQuery(workspaceId: string, runId: string) {
  return queryOptions({
    queryKey: ['run', workspaceId, runId],
    queryFn: ({ signal }) => call<RunDetail>('GET', `${base}/${runId}`, { workspaceId, signal }),
    staleTime: Number.POSITIVE_INFINITY, // a recorded attempt never changes
  })
}

/** All attempts of a task, the first one first. A task has at most 21. */
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

/** Reads one page of a log, newest first. It may be short, or empty, and still have a next one. */
export function readLogPage(
  { organizationId, workspaceId }: LogScope,
  query: ListQuery,
  signal: AbortSignal,
): Promise<Page<Run>> {
  if (workspaceId !== null) return call('GET', base, { query, workspaceId, signal })
  return call('GET', `/api/v1/organizations/${organizationId}/runs`, { query, signal })
}

/** Calls back with every new run of a workspace until `signal` aborts. */
export function followRuns(workspaceId: string, onRun: (run: Run) => void, signal: AbortSignal): Promise<void> {
  return followEvents(`${base}/stream`, { workspaceId, onEvent: toHandler({ onRun }), signal })
}

export type LogHandlers = {
  onRun(run: Run): void
  /** Called with how many runs were left out at least, because there were too many at a time. */
  onOmitted?(count: number): void
}

/** The same for a log. */
export function followLog(
  { organizationId, workspaceId }: LogScope,
  handlers: LogHandlers,
  signal: AbortSignal,
): Promise<void> {
  const onEvent = toHandler(handlers)
  if (workspaceId !== null) return followEvents(`${base}/stream`, { workspaceId, onEvent, signal })
  return followEvents(`/api/v1/organizations/${organizationId}/runs/stream`, { onEvent, signal })
}

/** Where the browser gets a log as a file. The organization's path, because a link cannot name a workspace in a header. */
export function exportAddress(
  { organizationId, workspaceId }: LogScope,
  query: ListQuery,
  format: 'csv' | 'jsonl',
): string {
  const among = workspaceId === null ? {} : { workspace_id: workspaceId }
  return `/api/v1/organizations/${organizationId}/runs/export${queryText({ ...query, ...among, format })}`
}

// The data is what the contract promises for each kind of event.
function toHandler({ onRun, onOmitted }: LogHandlers) {
  return ({ name, data }: StreamedEvent) => {
    if (name === 'run') onRun(JSON.parse(data) as Run)
    if (name === 'omitted') onOmitted?.((JSON.parse(data) as { count: number }).count)
  }
}
