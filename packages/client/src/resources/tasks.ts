import { followOperation } from '../follow-operation.ts'
import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import { openExport } from '../open-export.ts'
import type { CreateOptions, ProgressOptions, RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody, toDispatchBody, toNewBody } from '../request-body.ts'
import type {
  BatchResult,
  CancelledTasks,
  CreateTask,
  ExportTasks,
  Id,
  ListTasks,
  PageOptions,
  StoppedTasks,
  Task,
  TaskChoice,
  TaskCount,
  TaskOperation,
  UpdateTask,
} from '../types/index.ts'

const root = '/api/v1/scheduler/tasks'

/** Requests at a future time. */
export type Tasks = ReturnType<typeof tasksOf>

export function tasksOf(http: Http) {
  const operation = (id: Id, options?: RequestOptions): Promise<TaskOperation> =>
    http.get(path`/api/v1/scheduler/tasks/operations/${id}`, options)

  return {
    /**
     * Schedules a task. It is stored when this resolves. Retries are safe. With a `key` it may return a pending task that
     * was created earlier; see `onConflict`.
     */
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

    /** Stops a task that waits for a retry: it is dead. Throws `ConflictError` (`task_not_retrying`). */
    stop: (id: Id, options?: RequestOptions): Promise<Task> =>
      http.post(path`/api/v1/scheduler/tasks/${id}/stop`, undefined, options),

    /** Cancels pending tasks. Skips tasks that are not pending. */
    cancelMany: (choice: TaskChoice, options?: RequestOptions): Promise<CancelledTasks> =>
      http.post(`${root}/cancel`, toBody(choice), options),

    /** Stops tasks that wait for a retry. Skips other tasks. */
    stopMany: (choice: TaskChoice, options?: RequestOptions): Promise<StoppedTasks> =>
      http.post(`${root}/stop`, toBody(choice), options),

    /** Counts tasks, up to 10,000. */
    count: (filters: Omit<ListTasks, keyof PageOptions> = {}, options?: RequestOptions): Promise<TaskCount> =>
      http.get(`${root}/count`, options, filters),

    /** Returns the progress of a cancel or stop in the background. */
    operation,

    /** Yields each change of an operation's progress until it has ended. */
    progress: (id: Id, options?: ProgressOptions): AsyncGenerator<TaskOperation> =>
      followOperation(operation, id, 'ended', options),

    /** Cancels an operation. Ended tasks stay ended. Throws `ConflictError` when it has ended. */
    cancelOperation: (id: Id, options?: RequestOptions): Promise<TaskOperation> =>
      http.delete(path`/api/v1/scheduler/tasks/operations/${id}`, options),

    /** Replays a finished task as a new task that is due at once. Retries are safe. */
    replay: (id: Id, options?: CreateOptions): Promise<Task> =>
      http.create(path`/api/v1/scheduler/tasks/${id}/replay`, undefined, options),

    /** Exports tasks as a stream: `new Response(await belfry.tasks.export()).text()` reads all of it. */
    export: (filters: ExportTasks = {}, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> =>
      openExport(http, `${root}/export`, filters, options),
  }
}
