import type { Status } from '@belfry/contract/status'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

/** Whether Belfry delivers. Asked every three seconds, so a banner can say within ten seconds that it does not. */
export function statusQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['status', workspaceId],
    queryFn: ({ signal }) => call<Status>('GET', '/api/v1/scheduler/status', { workspaceId, signal }),
    refetchInterval: 3_000,
    staleTime: 0,
    retry: false,
  })
}
