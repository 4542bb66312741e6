import type { Http } from '../http.ts'
import { newIdempotencyKey } from '../idempotency-key.ts'
import { type List, list } from '../list.ts'
import type { CreateOptions, RequestOptions } from '../options.ts'
import { toDispatchBody } from '../request-body.ts'
import type { BatchResult, CreateTask, Id, ListTasks, Task, UpdateTask } from '../types.ts'

const path = '/api/v1/scheduler/tasks'

/** One-off calls at a future time. */
export type Tasks = ReturnType<typeof tasksOf>

export function tasksOf(http: Http) {
  return {
    /** Schedules a call. It is stored when this resolves; its retries are safe. */
    create: (task: CreateTask, options?: CreateOptions): Promise<Task> =>
      http.json({
        method: 'POST',
        path,
        body: toDispatchBody(task),
        idempotencyKey: options?.idempotencyKey ?? newIdempotencyKey(),
        options,
      }),

    /** Schedules up to 1,000 calls at once. A bad one fails alone: look at each result's `error`. */
    async createMany(tasks: readonly CreateTask[], options?: RequestOptions): Promise<BatchResult[]> {
      const { data } = await http.json<{ data: BatchResult[] }>({
        method: 'POST',
        path: `${path}/batch`,
        body: `{"tasks":[${tasks.map(toDispatchBody).join(',')}]}`,
        options,
      })
      return data
    },

    get: (id: Id, options?: RequestOptions): Promise<Task> =>
      http.json({ method: 'GET', path: `${path}/${id}`, options }),

    /** Newest first. */
    list: (filters: ListTasks = {}, options?: RequestOptions): List<Task> => list(http, path, filters, options),

    /** Changes a task that is still pending; throws `ConflictError` (`task_not_pending`) otherwise. */
    update: (id: Id, change: UpdateTask, options?: RequestOptions): Promise<Task> =>
      http.json({ method: 'PATCH', path: `${path}/${id}`, body: toDispatchBody(change), options }),

    /**
     * Cancels a task that is still pending: once this resolves, the call was not and will not be made. Throws
     * `ConflictError` (`task_not_pending`) otherwise.
     */
    cancel: (id: Id, options?: RequestOptions): Promise<Task> =>
      http.json({ method: 'DELETE', path: `${path}/${id}`, options }),

    /** Runs a finished task again, as a new task that is due at once. */
    replay: (id: Id, options?: RequestOptions): Promise<Task> =>
      http.json({ method: 'POST', path: `${path}/${id}/replay`, options }),
  }
}
