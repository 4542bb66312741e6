import type { BulkOperation } from '@belfry/contract/bulk-operation'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

const base = '/api/v1/scheduler/bulk-operations'

/** Reads an operation, each second while it runs. */
export function bulkOperationQuery(workspaceId: string, id: string) {
  return queryOptions({
    queryKey: ['bulk-operation', workspaceId, id],
    queryFn: ({ signal }) => call<BulkOperation>('GET', `${base}/${id}`, { workspaceId, signal }),
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'running' ? false : 1000),
  })
}

export function cancelBulkOperation(workspaceId: string, id: string): Promise<BulkOperation> {
  return call('POST', `${base}/${id}/cancel`, { workspaceId })
}
