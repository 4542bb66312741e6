import type { ProblemCode, StateReason } from '../codes.ts'
import type { FieldError } from '../errors.ts'
import type { Task } from '../generated/responses.ts'
import type { ExportFormat, Id, MethodInput, PageOptions, RequestFields, TimestampInput } from './request.ts'

export type TaskState = 'pending' | 'processing' | 'retrying' | 'success' | 'dead' | 'cancelled'

export type Source = 'task' | 'cron' | 'event' | 'callback'

export type CreateTask = TaskFields & CreationFields & TaskTime

type TaskFields = RequestFields & {
  /** A display name of 1 to 200 characters. Default: the method and the URL without its query. */
  name?: string
  /** An absolute http(s) URL, at most 2,048 characters. */
  targetUrl: string | URL
  /** Default `POST`. */
  method?: MethodInput
  /** Later than the time of the task. No attempt starts then or later. Default: no deadline. */
  expiresAt?: TimestampInput | null
  /** Up to 10 labels, such as `customer:42` or `order:{{ payload.order_id }}`, to filter by. */
  labels?: string[]
}

type CreationFields = {
  /** Unique among the pending tasks of the workspace, 1 to 128 characters. */
  key?: string
  /**
   * When a pending task has the key: `reject` throws `ConflictError` (`key_in_use`), `keep` returns that task, `replace`
   * gives it this request and time. Default `reject`.
   */
  onConflict?: OnConflict
  /** When the time has come already: `reject` throws `ValidationError`, `run` makes the call due at once. Default `reject`. */
  onPast?: 'reject' | 'run'
}

export type OnConflict = 'reject' | 'keep' | 'replace'

/** The time of a task's request. To send at once, publish an event. */
type TaskTime =
  | {
      /** In the future, at most until the end of 2099. With `timezone`, text without an offset. */
      executeAt: TimestampInput
      /**
       * The IANA time zone of times without an offset. Where clocks skip the time, it is the end of the gap; a time that
       * occurs twice is the first.
       */
      timezone?: string
      delay?: never
    }
  | {
      /** The time from now by this machine's clock: milliseconds, or text such as `90s`, `10m`, `1h30m` or `2d`. */
      delay: string | number
      executeAt?: never
      timezone?: never
    }

/** Omitted fields stay unchanged. Only a pending task can be changed. */
export type UpdateTask = Partial<TaskFields & TaskTime>

/** Either `task` or `error`. */
export type BatchResult =
  | { index: number; task: Task; error?: undefined }
  | {
      index: number
      task?: undefined
      error: { code: ProblemCode; title: string; status: number; detail: string; errors?: FieldError[] | undefined }
    }

/** Several values of one filter mean "or", different filters mean "and". Times: `from` ≤ t < `to`. */
export type ListTasks = PageOptions & {
  state?: TaskState | TaskState[]
  /** Why tasks ended without the outcome of an attempt. */
  stateReason?: StateReason | StateReason[]
  source?: Source | Source[]
  cronjobId?: Id | Id[]
  /** The tasks that an event has created, without their replays. */
  eventId?: Id | Id[]
  /** The callbacks of a task. */
  callbackOf?: Id | Id[]
  /** `false` leaves out the occurrences of cron jobs that are not due yet, `true` all other tasks. */
  upcoming?: boolean
  /** Only tasks of events have a topic. */
  topic?: string | string[]
  /** Exact names. */
  queue?: string | string[]
  label?: string | string[]
  /** A prefix of the name. */
  name?: string
  /** With its port. */
  host?: string | string[]
  /** Compared with `executeAt`. */
  from?: TimestampInput
  to?: TimestampInput
}

export type ExportTasks = Omit<ListTasks, 'limit' | 'cursor'> & ExportFormat
