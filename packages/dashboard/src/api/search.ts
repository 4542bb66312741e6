import type { SearchResult } from '@belfry/contract/search'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

const minLength = 2

/** Finds tasks, cron jobs, runs, hosts and topics by id or by a part of the name. */
export function searchQuery(workspaceId: string | undefined, text: string) {
  const q = text.trim()
  return queryOptions({
    queryKey: ['search', workspaceId, q],
    queryFn: ({ signal }) =>
      call<SearchResult>('GET', '/api/v1/scheduler/search', { query: { q }, workspaceId, signal }),
    enabled: workspaceId !== undefined && q.length >= minLength && q.length <= 200,
    placeholderData: keepPreviousData,
  })
}
