import type { DeadLetterOperation, TaskOperation } from '@belfry/contract/bulk-operation'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

/** A bulk action that runs in the background. */
export type BulkOperation = TaskOperation | DeadLetterOperation

/** Reads the operation at a path, each second while it runs. */
export function bulkOperationQuery<Operation extends BulkOperation>(workspaceId: string, path: string) {
  return queryOptions({
    queryKey: ['bulk-operation', workspaceId, path],
    queryFn: ({ signal }) => call<Operation>('GET', path, { workspaceId, signal }),
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'running' ? false : 1000),
  })
}

export function cancelBulkOperation<Operation extends BulkOperation>(
  workspaceId: string,
  path: string,
): Promise<Operation> {
  return call('DELETE', path, { workspaceId })
}
