import type { Http } from '../http.ts'
import { newIdempotencyKey } from '../idempotency-key.ts'
import { type List, list } from '../list.ts'
import { openExport } from '../open-export.ts'
import type { CreateOptions, RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toDispatchBody } from '../request-body.ts'
import type { BatchResult, CreateTask, ExportTasks, Id, ListTasks, Task, UpdateTask } from '../types.ts'

const root = '/api/v1/scheduler/tasks'

/** Requests at a future time. */
export type Tasks = ReturnType<typeof tasksOf>

export function tasksOf(http: Http) {
  return {
    /** Schedules a task. It is stored when this resolves. Retries are safe. */
    create: (task: CreateTask, options?: CreateOptions): Promise<Task> =>
      http.json({
        method: 'POST',
        path: root,
        body: toDispatchBody(task),
        idempotencyKey: options?.idempotencyKey ?? newIdempotencyKey(),
        options,
      }),

    /**
     * Schedules up to 1,000 tasks. They are stored when this resolves. Retries are safe. An invalid task fails alone, so
     * check the `error` of each result.
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

    /** Returns a task. Throws `NotFoundError`. */
    get: (id: Id, options?: RequestOptions): Promise<Task> =>
      http.json({ method: 'GET', path: path`/api/v1/scheduler/tasks/${id}`, options }),

    /** Lists tasks, newest first. */
    list: (filters: ListTasks = {}, options?: RequestOptions): List<Task> => list(http, root, filters, options),

    /** Changes a pending task. Throws `ConflictError` (`task_not_pending`). */
    update: (id: Id, change: UpdateTask, options?: RequestOptions): Promise<Task> =>
      http.json({ method: 'PATCH', path: path`/api/v1/scheduler/tasks/${id}`, body: toDispatchBody(change), options }),

    /**
     * Cancels a pending task. Once this resolves, its request was not and will not be sent. Throws `ConflictError`
     * (`task_not_pending`).
     */
    cancel: (id: Id, options?: RequestOptions): Promise<Task> =>
      http.json({ method: 'DELETE', path: path`/api/v1/scheduler/tasks/${id}`, options }),

    /** Replays a finished task as a new task that is due at once. Retries are safe. */
    replay: (id: Id, options?: CreateOptions): Promise<Task> =>
      http.json({
        method: 'POST',
        path: path`/api/v1/scheduler/tasks/${id}/replay`,
        idempotencyKey: options?.idempotencyKey ?? newIdempotencyKey(),
        options,
      }),

    /** Exports tasks as a stream: `new Response(await belfry.tasks.export()).text()` reads all of it. */
    export: (filters: ExportTasks = {}, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> =>
      openExport(http, `${root}/export`, filters, options),
  }
}
