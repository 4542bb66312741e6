import type { SearchResult } from '@belfry/contract/search'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { objectOptions } from './page.ts'

const minLength = 2

/** Finds tasks, cron jobs, runs, hosts and topics by id or by a part of the name. */
export function searchQuery(workspaceId: string | undefined, text: string) {
  const q = text.trim()
  return queryOptions({
    ...objectOptions<SearchResult>(['search', workspaceId, q], '/api/v1/scheduler/search', workspaceId, { q }),
    enabled: workspaceId !== undefined && q.length >= minLength && q.length <= 200,
    placeholderData: keepPreviousData,
  })
}
