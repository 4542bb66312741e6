import type { Run, RunDetail } from '@belfry/contract'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { followEvents } from './follow-events.ts'
import { type ListQuery, listOptions } from './page.ts'

export function runsQuery(workspaceId: string, query: ListQuery = {}) {
  return listOptions<Run>(['runs', workspaceId], '/api/v1/scheduler/runs', query, workspaceId)
}

export function runQuery(workspaceId: string, runId: string) {
  return queryOptions({
    queryKey: ['run', workspaceId, runId],
    queryFn: ({ signal }) => call<RunDetail>('GET', `/api/v1/scheduler/runs/${runId}`, { workspaceId, signal }),
    staleTime: Number.POSITIVE_INFINITY, // a recorded attempt never changes
  })
}

/** Calls back with every new run of a workspace until `signal` aborts. */
export function followRuns(workspaceId: string, onRun: (run: Run) => void, signal: AbortSignal): Promise<void> {
  const onEvent = ({ data }: { data: string }) => onRun(JSON.parse(data) as Run) // what the contract promises
  return followEvents('/api/v1/scheduler/runs/stream', { workspaceId, onEvent, signal })
}
