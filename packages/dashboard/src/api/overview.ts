import type { Overview, OverviewRange, Upcoming } from '@belfry/contract/overview'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

export function overviewQuery(workspaceId: string, range: OverviewRange) {
  return queryOptions({
    queryKey: ['overview', workspaceId, range],
    queryFn: ({ signal }) =>
      call<Overview>('GET', '/api/v1/scheduler/overview', { query: { range }, workspaceId, signal }),
    refetchInterval: 5_000,
    placeholderData: keepPreviousData,
  })
}

export function upcomingQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['upcoming', workspaceId],
    queryFn: ({ signal }) => call<Upcoming>('GET', '/api/v1/scheduler/upcoming', { workspaceId, signal }),
    refetchInterval: 30_000,
  })
}
