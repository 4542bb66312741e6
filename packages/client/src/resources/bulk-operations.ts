import { followOperation } from '../follow-operation.ts'
import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { ProgressOptions, RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody } from '../request-body.ts'
import type { BulkOperation, Id, PageOptions, StartBulkOperation } from '../types/index.ts'

const root = '/api/v1/scheduler/bulk-operations'

/** Cancels, stops, replays and discards of many tasks, in the background. */
export type BulkOperations = ReturnType<typeof bulkOperationsOf>

export function bulkOperationsOf(http: Http) {
  const get = (id: Id, options?: RequestOptions): Promise<BulkOperation> =>
    http.get(path`/api/v1/scheduler/bulk-operations/${id}`, options)

  return {
    /** Starts an operation, or returns the running one if it is the same. Throws `ConflictError` while another one is running. */
    start: (operation: StartBulkOperation, options?: RequestOptions): Promise<BulkOperation> =>
      http.post(root, toBody(operation), options),

    /** Returns the progress of an operation. */
    get,

    /** Lists operations, newest first. */
    list: (page: PageOptions = {}, options?: RequestOptions): List<BulkOperation> => list(http, root, page, options),

    /** Yields each change of an operation's progress until it has ended. */
    progress: (id: Id, options?: ProgressOptions): AsyncGenerator<BulkOperation> =>
      followOperation(get, id, 'done', options),

    /** Cancels an operation. What it has done stays done. Throws `ConflictError` when it has ended. */
    cancel: (id: Id, options?: RequestOptions): Promise<BulkOperation> =>
      http.post(path`/api/v1/scheduler/bulk-operations/${id}/cancel`, undefined, options),
  }
}
