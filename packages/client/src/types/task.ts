import type { ProblemCode, RunErrorCode, StateReason } from '../codes.ts'
import type { FieldError } from '../errors.ts'
import type { Callback } from './callback.ts'
import type {
  ExportFormat,
  Id,
  MethodInput,
  PageOptions,
  RequestFields,
  RetryPolicy,
  Timestamp,
  TimestampInput,
} from './request.ts'

export type TaskState = 'pending' | 'processing' | 'retrying' | 'success' | 'dead' | 'cancelled'

export type Source = 'task' | 'cron' | 'event' | 'callback'

export type CreateTask = TaskFields & KeyFields & TaskTime

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

type KeyFields = {
  /** Unique among the pending tasks of the workspace, 1 to 128 characters. */
  key?: string
  /**
   * When a pending task has the key: `reject` throws `ConflictError` (`key_in_use`), `keep` returns that task, `replace`
   * gives it this request and time. Default `reject`.
   */
  onConflict?: OnConflict
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

export type Task = {
  id: Id
  workspaceId: Id
  name: string
  source: Source
  cronjobId: Id | null
  eventId: Id | null
  topic: string | null
  url: string
  method: string
  headers: Record<string, string>
  payload: unknown
  /** The name of its queue. */
  queue: string | null
  /** The name of the connection that authenticates its calls. */
  connection: string | null
  /** The body in base64, when it is a raw body; `payload` is then null. */
  payloadBase64: string | null
  contentType: string | null
  executeAt: Timestamp
  /** The time in `timezone`, with its offset. Only in the answer to a request with a time zone. */
  localTime?: string | undefined
  /** The time zone of the request. */
  timezone?: string | undefined
  state: TaskState
  /** Why it ended without the outcome of an attempt, such as `user` or `monthly_execution_limit`. */
  stateReason: StateReason | null
  /** Attempts started so far. */
  attempts: number
  /** Why it waits although it is due. */
  blocked: Blocked | null
  retry: RetryPolicy
  timeoutMs: number
  onSuccess: Callback | null
  onFailure: Callback | null
  onAttempt: Callback | null
  /** No attempt starts at this time or later. */
  expiresAt: Timestamp | null
  /** Unique among the pending tasks of the workspace. */
  key: string | null
  labels: string[]
  /** The time of the next attempt, while the state is `retrying`. */
  nextRetryAt: Timestamp | null
  lastRun: LastRun | null
  /** The task whose outcome this callback reports. */
  callbackOf: Id | null
  /** The task that this one replays. */
  replayOf: Id | null
  /** The user or the API key that created it. Null: Belfry, or before this was recorded. */
  createdBy: Id | null
  /** The user or the API key that changed it last. */
  updatedBy: Id | null
  createdAt: Timestamp
  updatedAt: Timestamp
  finishedAt: Timestamp | null
}

/**
 * Why a due task waits: the circuit breaker of its host is not closed, its queue is paused or lets no more attempts start
 * now, or the operator holds it since a restore.
 */
export type Blocked =
  | { reason: 'circuit_open'; host: string; since: Timestamp; nextProbeAt: Timestamp }
  | { reason: 'queue'; queue: string }
  | { reason: 'held' }

export type LastRun = {
  id: Id
  status: 'success' | 'failed'
  responseStatus: number | null
  errorCode: RunErrorCode | null
  finishedAt: Timestamp
}

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
  source?: Source | Source[]
  cronjobId?: Id | Id[]
  /** The tasks that an event has created, without their replays. */
  eventId?: Id | Id[]
  /** The callbacks of a task. */
  callbackOf?: Id | Id[]
  /** Only tasks of events have a topic. */
  topic?: string | string[]
  /** Exact names. */
  queue?: string | string[]
  label?: string | string[]
  /** A prefix of the name. */
  name?: string
  /** Compared with `executeAt`. */
  from?: TimestampInput
  to?: TimestampInput
}

export type ExportTasks = Omit<ListTasks, 'limit' | 'cursor'> & ExportFormat
