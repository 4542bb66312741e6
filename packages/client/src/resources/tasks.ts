import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import { openExport } from '../open-export.ts'
import type { CreateOptions, RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toDispatchBody, toNewBody } from '../request-body.ts'
import type { BatchResult, CreateTask, ExportTasks, Id, ListTasks, Task, UpdateTask } from '../types.ts'

const root = '/api/v1/scheduler/tasks'

/** Requests at a future time. */
export type Tasks = ReturnType<typeof tasksOf>

export function tasksOf(http: Http) {
  return {
    /** Schedules a task. It is stored when this resolves. Retries are safe. */
    create: (task: CreateTask, options?: CreateOptions): Promise<Task> => http.create(root, toNewBody(task), options),

    /**
     * Schedules up to 1,000 tasks. They are stored when this resolves. Retries are safe. An invalid task fails alone, so
     * check the `error` of each result.
     */
    async createMany(tasks: readonly CreateTask[], options?: CreateOptions): Promise<BatchResult[]> {
      const { data } = await http.create<{ data: BatchResult[] }>(
        `${root}/batch`,
        `{"tasks":[${tasks.map(toNewBody).join(',')}]}`,
        options,
      )
      return data
    },

    /** Returns a task. Throws `NotFoundError`. */
    get: (id: Id, options?: RequestOptions): Promise<Task> => http.get(path`/api/v1/scheduler/tasks/${id}`, options),

    /** Lists tasks, newest first. */
    list: (filters: ListTasks = {}, options?: RequestOptions): List<Task> => list(http, root, filters, options),

    /** Changes a pending task. Throws `ConflictError` (`task_not_pending`). */
    update: (id: Id, change: UpdateTask, options?: RequestOptions): Promise<Task> =>
      http.patch(path`/api/v1/scheduler/tasks/${id}`, toDispatchBody(change), options),

    /**
     * Cancels a pending task. Once this resolves, its request was not and will not be sent. Throws `ConflictError`
     * (`task_not_pending`).
     */
    cancel: (id: Id, options?: RequestOptions): Promise<Task> =>
      http.delete(path`/api/v1/scheduler/tasks/${id}`, options),

    /** Replays a finished task as a new task that is due at once. Retries are safe. */
    replay: (id: Id, options?: CreateOptions): Promise<Task> =>
      http.create(path`/api/v1/scheduler/tasks/${id}/replay`, undefined, options),

    /** Exports tasks as a stream: `new Response(await belfry.tasks.export()).text()` reads all of it. */
    export: (filters: ExportTasks = {}, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> =>
      openExport(http, `${root}/export`, filters, options),
  }
}
