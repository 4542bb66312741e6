import type { BulkOperation } from '@belfry/contract/bulk-operation'
import { queryOptions } from '@tanstack/react-query'
import { post } from './operation.ts'
import { objectOptions } from './page.ts'

/** Reads an operation, each second while it runs. */
export function bulkOperationQuery(workspaceId: string, id: string) {
  return queryOptions({
    ...objectOptions<BulkOperation>(
      ['bulk-operation', workspaceId, id],
      `/api/v1/scheduler/bulk-operations/${id}`,
      workspaceId,
    ),
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'running' ? false : 1000),
  })
}

export const cancelBulkOperation = post('/api/v1/scheduler/bulk-operations/:operation/cancel')<BulkOperation>
