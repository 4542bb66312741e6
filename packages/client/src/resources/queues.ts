import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody } from '../request-body.ts'
import type { ListQueues, Queue, QueueLimits } from '../types/index.ts'

const root = '/api/v1/scheduler/queues'

/** Queues, which limit how many attempts of their tasks start. */
export type Queues = ReturnType<typeof queuesOf>

export function queuesOf(http: Http) {
  return {
    /** Lists queues by name, with what they contain now. */
    list: (filter: ListQueues = {}, options?: RequestOptions): List<Queue> => list(http, root, filter, options),

    /** Returns a queue. Throws `NotFoundError`. */
    get: (name: string, options?: RequestOptions): Promise<Queue> =>
      http.get(path`/api/v1/scheduler/queues/${name}`, options),

    /** Creates a queue, or replaces all of its limits: an omitted limit is removed. */
    put: (name: string, limits: QueueLimits = {}, options?: RequestOptions): Promise<Queue> =>
      http.put(path`/api/v1/scheduler/queues/${name}`, toBody(limits), options),

    /** Changes limits of a queue. Omitted limits stay unchanged. */
    update: (name: string, limits: QueueLimits, options?: RequestOptions): Promise<Queue> =>
      http.patch(path`/api/v1/scheduler/queues/${name}`, toBody(limits), options),

    /** Pauses a queue: its tasks wait until it is resumed. */
    pause: (name: string, options?: RequestOptions): Promise<Queue> =>
      http.post(path`/api/v1/scheduler/queues/${name}/pause`, undefined, options),

    /** Resumes a paused queue. */
    resume: (name: string, options?: RequestOptions): Promise<Queue> =>
      http.post(path`/api/v1/scheduler/queues/${name}/resume`, undefined, options),

    /** Deletes the settings of a queue. Throws `ConflictError` with `queue_in_use` while something uses it. */
    delete: (name: string, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/scheduler/queues/${name}`, options),
  }
}
