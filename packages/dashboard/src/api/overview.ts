import type { Overview, OverviewRange, Upcoming } from '@belfry/contract/overview'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { objectOptions } from './page.ts'

export function overviewQuery(workspaceId: string, range: OverviewRange) {
  const key = ['overview', workspaceId, range]
  const read = objectOptions<Overview>(key, '/api/v1/scheduler/overview', workspaceId, { range })
  return queryOptions({ ...read, refetchInterval: 5_000, placeholderData: keepPreviousData })
}

export function upcomingQuery(workspaceId: string) {
  const read = objectOptions<Upcoming>(['upcoming', workspaceId], '/api/v1/scheduler/upcoming', workspaceId)
  return queryOptions({ ...read, refetchInterval: 30_000 })
}
