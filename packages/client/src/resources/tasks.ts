import type { Http } from '../http.ts'
import { newIdempotencyKey } from '../idempotency-key.ts'
import { type List, list } from '../list.ts'
import { openExport } from '../open-export.ts'
import type { CreateOptions, RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toDispatchBody } from '../request-body.ts'
import type { BatchResult, CreateTask, ExportTasks, Id, ListTasks, Task, UpdateTask } from '../types.ts'

const root = '/api/v1/scheduler/tasks'

/** One-off calls at a future time. */
export type Tasks = ReturnType<typeof tasksOf>

export function tasksOf(http: Http) {
  return {
    /** Schedules a call. It is stored when this resolves; its retries are safe. */
    create: (task: CreateTask, options?: CreateOptions): Promise<Task> =>
      http.json({
        method: 'POST',
        path: root,
        body: toDispatchBody(task),
        idempotencyKey: options?.idempotencyKey ?? newIdempotencyKey(),
        options,
      }),

    /**
     * Schedules up to 1,000 calls at once, all stored when this resolves; its retries are safe. A bad one fails alone:
     * look at each result's `error`.
     */
    async createMany(tasks: readonly CreateTask[], options?: CreateOptions): Promise<BatchResult[]> {
      const { data } = await http.json<{ data: BatchResult[] }>({
        method: 'POST',
        path: `${root}/batch`,
        body: `{"tasks":[${tasks.map(toDispatchBody).join(',')}]}`,
        idempotencyKey: options?.idempotencyKey ?? newIdempotencyKey(),
        options,
      })
      return data
    },

    /** A task as it is now. Throws `NotFoundError` when there is none. */
    get: (id: Id, options?: RequestOptions): Promise<Task> =>
      http.json({ method: 'GET', path: path`/api/v1/scheduler/tasks/${id}`, options }),

    /** Newest first. */
    list: (filters: ListTasks = {}, options?: RequestOptions): List<Task> => list(http, root, filters, options),

    /** Changes a task that is still pending; throws `ConflictError` (`task_not_pending`) otherwise. */
    update: (id: Id, change: UpdateTask, options?: RequestOptions): Promise<Task> =>
      http.json({ method: 'PATCH', path: path`/api/v1/scheduler/tasks/${id}`, body: toDispatchBody(change), options }),

    /**
     * Cancels a task that is still pending: once this resolves, the call was not and will not be made. Throws
     * `ConflictError` (`task_not_pending`) otherwise.
     */
    cancel: (id: Id, options?: RequestOptions): Promise<Task> =>
      http.json({ method: 'DELETE', path: path`/api/v1/scheduler/tasks/${id}`, options }),

    /** Runs a finished task again, as a new task that is due at once. Its retries are safe. */
    replay: (id: Id, options?: CreateOptions): Promise<Task> =>
      http.json({
        method: 'POST',
        path: path`/api/v1/scheduler/tasks/${id}/replay`,
        idempotencyKey: options?.idempotencyKey ?? newIdempotencyKey(),
        options,
      }),

    /** The file as it comes in: `new Response(await belfry.tasks.export()).text()` gives it all. */
    export: (filters: ExportTasks = {}, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> =>
      openExport(http, `${root}/export`, filters, options),
  }
}
