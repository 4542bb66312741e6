import type { Status } from '@belfry/contract/status'
import { queryOptions } from '@tanstack/react-query'
import { objectOptions } from './page.ts'

/** Whether Belfry delivers. Asked every three seconds, so a banner can say within ten seconds that it does not. */
export function statusQuery(workspaceId: string) {
  const read = objectOptions<Status>(['status', workspaceId], '/api/v1/scheduler/status', workspaceId)
  return queryOptions({ ...read, refetchInterval: 3_000, staleTime: 0, retry: false })
}
