import type { ProblemCode, RunErrorCode, StateReason } from './codes.ts'
import type { FieldError } from './errors.ts'

/** An id such as `task_01jd…`: its kind, and 26 characters that sort by creation time. */
export type Id = string

/** A timestamp in UTC, such as `2026-11-21T02:20:00.000Z`. */
export type Timestamp = string

/** A time: a `Date`, or ISO 8601 text with `Z` or an offset. */
export type TimestampInput = Date | string

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/** An HTTP method, in upper or lower case. */
export type MethodInput = Method | Lowercase<Method>

/** A JSON value. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/**
 * The request body. **Text must be JSON**; Belfry sends it byte for byte, so numbers beyond 2^53 and the order of keys
 * survive. Other values are converted to JSON. To send a JSON string, pass `JSON.stringify(text)`.
 */
export type PayloadInput = string | Exclude<Json, string> | object

export type TaskState = 'pending' | 'processing' | 'retrying' | 'success' | 'dead' | 'cancelled'
export type Source = 'task' | 'cron' | 'event' | 'callback'

/** The retry policy of failed attempts. */
export type RetryPolicy = {
  /** The maximum number of retries, 0 to 20. Default 5. */
  maxRetries: number
  /** The growth of the delay: `exponential` (base · 4^(n−1)), `linear` (base · n) or `fixed`. Default `exponential`. */
  backoff: 'exponential' | 'linear' | 'fixed'
  /** The delay before the first retry, 1,000 to 3,600,000 ms. Default 10,000. */
  baseDelayMs: number
  /** The maximum delay, at most 86,400,000 ms. Default 3,600,000. */
  maxDelayMs: number
}

/** Where Belfry sends the outcome of a task: a POST with the task and the run. */
export type CallbackTarget = {
  /** An absolute http(s) URL. */
  url: string
  /** Default: none. */
  headers?: Record<string, string>
  retry?: Partial<RetryPolicy>
  /** Default 30,000. */
  timeoutMs?: number
}

/** A callback in a response. */
export type Callback = { url: string; headers: Record<string, string>; retry: RetryPolicy; timeoutMs: number }

/** The body of a callback, as its receiver parses it. The names are those of the HTTP API. */
export type CallbackPayload = {
  task: { id: Id; name: string; state: TaskState; attempts: number } & Record<string, unknown>
  /** Null when no attempt of the task ended. */
  run:
    | ({
        id: Id
        attempt: number
        status: 'success' | 'failed'
        error: { code: RunErrorCode; message: string } | null
        response: {
          status: number
          headers: Record<string, string | string[]>
          /** Null when the response is not text; then `body_base64` is set. */
          body: string | null
          body_base64: string | null
          /** Bytes received; the body may be shorter. */
          body_bytes: number
          body_truncated: boolean
        } | null
      } & Record<string, unknown>)
    | null
}

/** The callbacks of a task. In a change, null removes one. */
export type CallbackFields = {
  /** Called when the task succeeds. */
  onSuccess?: CallbackTarget | null
  /** Called when the task is dead. */
  onFailure?: CallbackTarget | null
  /** Called after each attempt. */
  onAttempt?: CallbackTarget | null
}

/** The optional fields of every request. */
export type RequestFields = {
  /** At most 50 headers. Hop-by-hop, `webhook-*` and `x-belfry-*` headers are refused. Default: none. */
  headers?: Record<string, string>
  /** A `Uint8Array` is sent unchanged, as the bytes of a raw body. */
  payload?: PayloadInput | Uint8Array
  /** A raw body in base64, instead of `payload`. */
  payloadBase64?: string
  /** The content type of a raw body. Default: the `Content-Type` header, or `application/octet-stream`. */
  contentType?: string
  retry?: Partial<RetryPolicy>
  /** The time limit of an attempt, from connecting to the last byte, 1,000 to 300,000 ms. Default 30,000. */
  timeoutMs?: number
  /** The queue that limits the attempts: its name, alone or with limits to set. Default, and for null: none. */
  queue?: string | QueueInput | null
} & CallbackFields

/** The limits of a queue. Omitted limits stay unchanged; null removes one. */
export type QueueLimits = {
  /** Attempts in flight at a time over all dispatchers, 1 to 1,000. */
  maxConcurrent?: number | null
  /** At most `count` attempts (1 to 10,000) start within any period of `periodMs` (100 to 86,400,000 ms). */
  rateLimit?: { count: number; periodMs: number } | null
  /** One task at a time, in the order of `executeAt`; the next one waits for the retries of the one before. */
  ordered?: boolean
}

/** A queue by its name, with limits to set. The last writer wins. */
export type QueueInput = QueueLimits & { name: string }

/** A queue, with what it contains now. */
export type Queue = {
  name: string
  maxConcurrent: number | null
  rateLimit: { count: number; periodMs: number } | null
  ordered: boolean
  /** Since when no task starts, while it is paused. */
  pausedAt: Timestamp | null
  /** Tasks that are due and not started; counted up to 10,000. */
  waiting: number
  inFlight: number
  /** For how long the first waiting task has been due. */
  oldestDueMs: number | null
  createdAt: Timestamp
  updatedAt: Timestamp
}

export type ListQueues = PageOptions & {
  /** A prefix of the name. */
  name?: string
}

/** The deadline and the labels of the tasks that something creates. */
export type ControlFields = {
  /** No attempt starts this long after the time of the task, 1,000 to 1,209,600,000 ms. Default: no deadline. */
  maxAgeMs?: number | null
  /** Up to 10 labels, such as `customer:42`, to filter by. */
  labels?: string[]
}

/** A key of your choice, 1 to 128 characters, unique among the workspace's objects of the same kind. Default: none. */
type ObjectKey = { key?: string }

export type CreateTask = TaskFields & KeyFields & TaskTime

type TaskFields = RequestFields & {
  /** A display name of 1 to 200 characters. Default: the method and the URL without its query. */
  name?: string
  /** An absolute http(s) URL, at most 2,048 characters. */
  targetUrl: string
  /** Default `POST`. */
  method?: MethodInput
  /** Later than the time of the task. No attempt starts then or later. Default: no deadline. */
  expiresAt?: TimestampInput | null
  /** Up to 10 labels, such as `customer:42`, to filter by. */
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
      /** In the future, at most until the end of 2099. */
      executeAt: TimestampInput
      delay?: never
    }
  | {
      /** The time from now by this machine's clock: milliseconds, or text such as `90s`, `10m`, `1h30m` or `2d`. */
      delay: string | number
      executeAt?: never
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
  /** The body in base64, when it is a raw body; `payload` is then null. */
  payloadBase64: string | null
  contentType: string | null
  executeAt: Timestamp
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
 * Why a due task waits: the circuit breaker of its host is not closed, or its queue is paused or lets no more attempts start
 * now.
 */
export type Blocked =
  | { reason: 'circuit_open'; host: string; since: Timestamp; nextProbeAt: Timestamp }
  | { reason: 'queue'; queue: string }

/** A host that the tasks of a workspace call. */
export type Host = {
  /** A host name or address, with its port. */
  host: string
  circuit: {
    state: 'closed' | 'open' | 'half_open'
    /** When the breaker opened. */
    since: Timestamp | null
    /** When Belfry may probe the host with one attempt. */
    nextProbeAt: Timestamp | null
    /** The dispatchers in which the breaker is not closed. */
    dispatchers: number
  }
  /** Tasks that are due and not started. */
  waiting: number
  inFlight: number
  attempts: number
  failed: number
  attemptsPerMinute: number
  durationP50Ms: number | null
  lastFailure: { runId: Id; at: Timestamp; responseStatus: number | null; errorCode: string | null } | null
}

/** The hosts of a workspace: those with an open circuit breaker first, then those with the most waiting tasks. */
export type Hosts = {
  data: Host[]
  /** Attempts are counted from this time on: the last hour, or the latest 5,000 attempts. */
  from: Timestamp
  /** Hosts beyond the first 200. */
  omitted: number
  /** Only the first 10,000 waiting tasks were counted. */
  waitingIsCapped: boolean
  /** How many calls to one host may be in flight at once. */
  maxInFlightPerHost: number
}

/** The processes that deliver tasks. `live`: those with a heartbeat in the last five seconds. */
export type Status = {
  dispatchers: { live: number; lastSeenAt: Timestamp | null }
  schedulers: { live: number; lastSeenAt: Timestamp | null }
  /** `down`: Redis does not answer, and dispatchers read due tasks from PostgreSQL. `none`: no Redis is used. */
  queue: 'up' | 'down' | 'none'
}

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

/** The filters of tasks, without `state`, and the host with its port and the error of the last run. */
export type ListDeadLetters = Omit<ListTasks, 'state'> & {
  host?: string | string[]
  error?: RunErrorCode | RunErrorCode[]
}

/** Either the ids of at most 100 dead letters, or a filter; an empty filter selects all. */
export type DeadLetterChoice = { ids: Id[]; filter?: undefined } | { ids?: undefined; filter: DeadLetterFilter }

/** `from` ≤ `executeAt` < `to`. */
export type DeadLetterFilter = {
  cronjobId?: Id
  topic?: string
  label?: string
  from?: TimestampInput
  to?: TimestampInput
  /** A prefix. */
  name?: string
  /** With its port. */
  host?: string | string[]
  /** Of the last run. */
  error?: RunErrorCode | RunErrorCode[]
}

/** A replay or discard of more than 1,000 dead letters, in the background. */
export type DeadLetterOperation = {
  id: Id
  workspaceId: Id
  action: 'replay' | 'discard'
  filter: {
    cronjobId: Id | null
    topic: string | null
    label: string | null
    from: Timestamp | null
    to: Timestamp | null
    name: string | null
    host: string[] | null
    error: RunErrorCode[] | null
  }
  status: 'running' | 'done' | 'cancelled'
  /** Dead letters that matched when it started. */
  total: number
  /** Dead letters replayed or discarded so far. */
  settled: number
  createdAt: Timestamp
  updatedAt: Timestamp
  finishedAt: Timestamp | null
}

/** `operation` is set when there are too many for one request; see `deadLetters.progress`. */
export type ReplayedDeadLetters = { replayed: number; operation: DeadLetterOperation | null }
/** `operation` is set when there are too many for one request; see `deadLetters.progress`. */
export type DiscardedDeadLetters = { discarded: number; operation: DeadLetterOperation | null }

/** The filters of tasks, without `state`. */
export type TaskFilter = Omit<ListTasks, 'state' | keyof PageOptions>

/** Either the ids of at most 100 tasks, or a filter; an empty filter selects all. */
export type TaskChoice = { ids: Id[]; filter?: undefined } | { ids?: undefined; filter: TaskFilter }

/** A cancel or stop of more than 1,000 tasks, in the background. */
export type TaskOperation = {
  id: Id
  workspaceId: Id
  action: 'cancel' | 'stop'
  filter: {
    source: Source[] | null
    cronjobId: Id[] | null
    eventId: Id[] | null
    topic: string[] | null
    label: string[] | null
    queue: string[] | null
    callbackOf: Id[] | null
    name: string | null
    from: Timestamp | null
    to: Timestamp | null
  }
  status: 'running' | 'done' | 'cancelled'
  /** Tasks that matched when it started. */
  total: number
  /** Tasks cancelled or stopped so far. */
  ended: number
  createdAt: Timestamp
  updatedAt: Timestamp
  finishedAt: Timestamp | null
}

/** `operation` is set when there are too many for one request; see `tasks.progress`. */
export type CancelledTasks = { cancelled: number; operation: TaskOperation | null }
/** `operation` is set when there are too many for one request; see `tasks.progress`. */
export type StoppedTasks = { stopped: number; operation: TaskOperation | null }

/** `isCapped`: there may be more, because tasks are counted up to 10,000. */
export type TaskCount = { count: number; isCapped: boolean }

export type CreateCronJob = RequestFields &
  ControlFields &
  ObjectKey & {
    /** Default: the method and the URL without its query. */
    name?: string
    targetUrl: string
    /** Default `POST`. */
    method?: MethodInput
    /** Five fields: minute, hour, day of month, month, day of week. */
    cron: string
    /** An IANA zone such as `Europe/Berlin`. Default `UTC`. */
    timezone?: string
    /** Whether a run starts while an earlier one is unfinished. Default `allow`. */
    overlap?: 'allow' | 'skip'
    /** Which missed runs are made up for after an outage. Default `latest`. */
    catchUp?: 'latest' | 'all' | 'none'
    startsAt?: TimestampInput | null
    /** No run starts at this time or later. */
    endsAt?: TimestampInput | null
  }

/** Omitted fields stay unchanged. A key of null removes the key. */
export type UpdateCronJob = Partial<Omit<CreateCronJob, 'key'>> & { key?: string | null }

/** `local` is the scheduled local time, which did not exist (gap) or occurred twice (overlap). */
export type RunTimeNote = { at: Timestamp; local: string; code: 'clock_gap' | 'clock_overlap' }

export type CronPreview = { description: string; nextRuns: Timestamp[]; notes: RunTimeNote[] }

export type CronJob = {
  id: Id
  workspaceId: Id
  key: string | null
  name: string
  url: string
  method: string
  headers: Record<string, string>
  payload: unknown
  /** The body in base64, when it is a raw body; `payload` is then null. */
  payloadBase64: string | null
  contentType: string | null
  retry: RetryPolicy
  timeoutMs: number
  /** The name of the queue of its tasks. */
  queue: string | null
  onSuccess: Callback | null
  onFailure: Callback | null
  onAttempt: Callback | null
  cron: string
  timezone: string
  /** The schedule in English. */
  description: string
  overlap: 'allow' | 'skip'
  catchUp: 'latest' | 'all' | 'none'
  startsAt: Timestamp | null
  endsAt: Timestamp | null
  maxAgeMs: number | null
  labels: string[]
  status: 'active' | 'paused' | 'ended'
  nextRunAt: Timestamp | null
  nextRuns: Timestamp[]
  notes: RunTimeNote[]
  lastRun: LastRun | null
  /** The user or the API key that created it. Null: before this was recorded. */
  createdBy: Id | null
  /** The user or the API key that changed it last. */
  updatedBy: Id | null
  createdAt: Timestamp
  updatedAt: Timestamp
}

export type ListCronJobs = PageOptions & {
  status?: CronJob['status'] | Array<CronJob['status']>
  label?: string | string[]
  name?: string
}

export type PublishEvent = Omit<RequestFields, 'payload' | 'payloadBase64' | 'contentType'> &
  ControlFields & {
    /** Dotted, such as `invoice.paid`. */
    topic: string
    /** A JSON object, or its JSON text, which Belfry sends byte for byte. */
    payload: string | object
    /** The only target. Default: every active subscription with a matching topic. */
    targetUrl?: string
  }

export type PublishedEvent = { id: Id; topic: string /** One for each target. */; tasks: Task[] }

export type CreateSubscription = Omit<RequestFields, 'payload' | 'payloadBase64' | 'contentType'> &
  ControlFields &
  ObjectKey & {
    /** The topic: an exact topic, `orders.*` for all topics below `orders`, or `*` for all topics. */
    topic: string
    targetUrl: string
    /** Whether it receives events. Default true. */
    active?: boolean
  }

/** Omitted fields stay unchanged. A key of null removes the key. */
export type UpdateSubscription = Partial<Omit<CreateSubscription, 'key'>> & { key?: string | null }

/** A target that receives every event with a matching topic. */
export type Subscription = {
  id: Id
  workspaceId: Id
  key: string | null
  topic: string
  url: string
  headers: Record<string, string>
  retry: RetryPolicy
  timeoutMs: number
  /** The name of the queue of its tasks. */
  queue: string | null
  onSuccess: Callback | null
  onFailure: Callback | null
  onAttempt: Callback | null
  maxAgeMs: number | null
  labels: string[]
  active: boolean
  createdAt: Timestamp
  updatedAt: Timestamp
}

/** An attempt of a task. */
export type Run = {
  id: Id
  workspaceId: Id
  taskId: Id
  taskName: string
  source: Source
  cronjobId: Id | null
  topic: string | null
  /** 1 for the first attempt. */
  attempt: number
  status: 'success' | 'failed'
  scheduledAt: Timestamp
  startedAt: Timestamp
  finishedAt: Timestamp
  durationMs: number
  /** The delay between the scheduled time and the start, in milliseconds. */
  lagMs: number
  url: string
  method: string
  responseStatus: number | null
  error: { code: RunErrorCode; message: string } | null
}

/** A run with its request and response. */
export type RunDetail = Run & {
  request: {
    url: string
    method: string
    headers: Record<string, string>
    body: string | null
    bodyEncoding: 'utf8' | 'base64'
    /** The request is stored completely. */
    bodyTruncated: false
  }
  response: {
    status: number
    headers: Record<string, string | string[]>
    body: string
    /** Bytes received; `body` may be shorter. */
    bodyBytes: number
    bodyTruncated: boolean
    bodyEncoding: 'utf8' | 'base64'
  } | null
}

export type ListRuns = PageOptions & {
  status?: Run['status'] | Array<Run['status']>
  taskId?: Id | Id[]
  cronjobId?: Id | Id[]
  topic?: string | string[]
  /** The labels of the tasks. */
  label?: string | string[]
  source?: Source | Source[]
  /** A status such as 500, or a class such as `5xx`. */
  responseStatus?: number | string | Array<number | string>
  /** Error codes, such as `timeout`. */
  error?: string | string[]
  /** Hosts with their ports, such as `example.com` or `localhost:3000`. */
  host?: string | string[]
  /** The beginning of the name of the task. */
  name?: string
  /** Compared with `startedAt`. */
  from?: TimestampInput
  to?: TimestampInput
}

/** Compared with `startedAt`. */
export type RunFailuresQuery = { from?: TimestampInput; to?: TimestampInput }

export type FailureGroup = {
  host: string
  errorCode: string
  responseStatus: number | null
  /** The message of the latest run. */
  errorMessage: string
  count: number
  firstAt: Timestamp
  lastAt: Timestamp
  /** The latest run, as an example. */
  lastRunId: Id
  taskName: string
}

/** `isPartial` says that there were more failed runs than the `counted` ones. */
export type RunFailures = { data: FailureGroup[]; counted: number; isPartial: boolean }

/** CSV with a header line, or one JSON object per line with the names of the HTTP API. Default `csv`. */
export type ExportFormat = { format?: 'csv' | 'jsonl' }
export type ExportRuns = Omit<ListRuns, 'limit' | 'cursor'> & ExportFormat
export type ExportTasks = Omit<ListTasks, 'limit' | 'cursor'> & ExportFormat

export type ListOrganizationRuns = ListRuns & { workspaceId?: Id | Id[] }

/** An organization, as API keys of its workspaces see it. */
export type OrganizationSummary = { id: Id; name: string; slug: string; tier: string }

export type Organization = {
  id: Id
  name: string
  slug: string
  tier: string
  policy: Policy
  createdAt: Timestamp
  updatedAt: Timestamp
}

/** The limit is null when the tier has none. */
type Share = { used: number; limit: number | null }

/** An organization with its usage, which only owners see. */
export type OrganizationDetail = Organization & {
  usage?: { period: { start: Timestamp; end: Timestamp }; executions: Share; storageBytes: Share; workspaces: Share }
}

/** The permissions of members, as opposed to owners and admins. */
export type Policy = {
  membersCanInvite: boolean
  membersCanCreateApiKeys: boolean
  membersCanCreateSecrets: boolean
  membersCanCreateWorkspaces: boolean
  membersCanDeleteTasks: boolean
  membersCanManageIntegrations: boolean
}

export type Workspace = {
  id: Id
  organizationId: Id
  name: string
  /** Whether the log keeps the headers and bodies of responses to requests with secrets. */
  keepsResponsesWithSecrets: boolean
  createdAt: Timestamp
  updatedAt: Timestamp
}

/** A secret, which requests refer to as `{{ secrets.NAME }}`. Its value is never returned. */
export type Secret = {
  name: string
  /** The hosts that it may be sent to, such as `api.example.com` or `*.example.com`. Null: every host. */
  allowedHosts: string[] | null
  createdAt: Timestamp
  updatedAt: Timestamp
}

/** A value of a secret. Without `allowedHosts` an existing secret keeps its hosts. Null allows every host. */
export type PutSecret = { value: string; allowedHosts?: string[] | null }

/** A secret that signs the deliveries of a workspace. */
export type SigningSecret = {
  id: Id
  workspaceId: Id
  /** The secret for `webhooks.verify`. */
  secret: string
  createdAt: Timestamp
  /** When a replaced secret stops signing; null for the current secret. */
  expiresAt: Timestamp | null
}

export type Member = {
  user: { id: Id; email: string; name: string }
  role: 'owner' | 'admin' | 'member'
  /** The default role in workspaces that the member joins later. */
  workspaceRole: 'viewer' | 'editor'
  joinedAt: Timestamp
}

/** A member of the organization who belongs to a workspace. */
export type WorkspaceMember = {
  user: { id: Id; email: string; name: string }
  role: 'viewer' | 'editor'
  addedAt: Timestamp
}

export type PageOptions = {
  /** Items per page, 1 to 100. Default 25. */
  limit?: number
  /** The `nextCursor` of the previous page. */
  cursor?: string
}

export type Page<T> = {
  data: T[]
  /** Null on the last page. */
  nextCursor: string | null
}
