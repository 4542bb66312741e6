// `npm run clients` makes this file from the operations of the API.
import type { RunErrorCode, StateReason, WaitReason } from '../codes.ts'
import type { Condition } from '../types/event.ts'
import type { Id, Page, RetryPolicy, Timestamp } from '../types/request.ts'

/** Why a due task waits. */
export type Blocked = BlockedByHost | BlockedByPause | BlockedByQueue | BlockedByHold

/**
 * How long the steps of a call took, in milliseconds. A step is null when the call had none or did not complete it; a call on a
 * kept-alive connection has only `firstByteMs`.
 */
export type RunTimings = NonNullable<Run['timings']>

/** One page of the log. */
export type RunPage = Page<Run> & {
  /** Whether Belfry read object storage for this page, which is slower. */
  fromStorage: boolean
}

export type Task = {
  /** The id, which never changes. */
  id: Id
  /** The workspace that it belongs to. */
  workspaceId: Id
  /** The name that its creator chose. */
  name: string
  /** The origin of the task. */
  source: 'task' | 'cron' | 'event' | 'callback'
  /** The cron job of the task; null for other tasks. */
  cronjobId: Id | null
  /** The event that created the task, or the task that it replays; null for other tasks. */
  eventId: Id | null
  /** The topic of the event; null for other tasks. */
  topic: string | null
  /** The URL that is called. */
  url: string
  /** The HTTP method. */
  method: string
  /** The headers, by name. */
  headers: Record<string, string>
  /** Any JSON value, unchanged. */
  payload: unknown
  /** The body in base64, when it was given so; `payload` is then null. */
  payloadBase64: string | null
  /** The content type of `payloadBase64`. */
  contentType: string | null
  /** When failed attempts are repeated. */
  retry: RetryPolicy
  /** The time limit of an attempt, from connecting to the last byte, in milliseconds. */
  timeoutMs: number
  /** Called with the task and the run when the task succeeds. */
  onSuccess: Callback | null
  /** Called when the task is dead. */
  onFailure: Callback | null
  /** Called after each attempt. */
  onAttempt: Callback | null
  /** The name of its queue. */
  queue: string | null
  /** The name of the connection that authenticates its calls. */
  connection: string | null
  /** The time of the first attempt. */
  executeAt: Timestamp
  /** The time in `timezone`, with its offset. Only in the answer to a request with a timezone. */
  localTime?: string
  /** The zone of the request. */
  timezone?: string
  /** Where the task is: waiting, in progress, or ended with this outcome. */
  state: 'pending' | 'processing' | 'retrying' | 'success' | 'dead' | 'cancelled'
  /** Why it ended without the outcome of an attempt. */
  stateReason: StateReason | null
  /** Attempts started so far. */
  attempts: number
  /** Why the task waits although it is due. Null in lists of dead letters and after a change. */
  blocked: Blocked | null
  /** No attempt starts at this time or later. */
  expiresAt: Timestamp | null
  /** Unique among the pending tasks of the workspace. */
  key: string | null
  /** The labels of the task. */
  labels: string[]
  /** Set while the state is `retrying`. */
  nextRetryAt: Timestamp | null
  /** The latest attempt that ended; null before. */
  lastRun: LastRun | null
  /** The task whose outcome this callback reports. */
  callbackOf: Id | null
  /** The task that this one replays; null for other tasks. */
  replayOf: Id | null
  /** The user or the API key that created it. Null: Belfry, or before this was recorded. */
  createdBy: string | null
  /** The user or the API key that changed it last. */
  updatedBy: string | null
  /** When it was created. */
  createdAt: Timestamp
  /** When it was last changed. */
  updatedAt: Timestamp
  /** When it ended; null before. */
  finishedAt: Timestamp | null
}

export type Callback = {
  /** The URL that is called. */
  url: string
  /** The headers, by name. */
  headers: Record<string, string>
  /** When failed attempts are repeated. */
  retry: RetryPolicy
  /** The time limit of an attempt, from connecting to the last byte, in milliseconds. */
  timeoutMs: number
}

export type BlockedByHost = {
  /** The circuit breaker of its host is open or half-open. */
  reason: 'circuit_open'
  /** The host, with its port unless it is the default. */
  host: string
  /** When the circuit breaker opened. */
  since: Timestamp
  /** When Belfry may probe the host with one attempt. Tasks wait until a probe succeeds. */
  nextProbeAt: Timestamp
}

export type BlockedByPause = {
  /** A user has paused its host. */
  reason: 'host_paused'
  /** The host, with its port unless it is the default. */
  host: string
  /** When a user paused the host. */
  since: Timestamp
}

export type BlockedByQueue = {
  /** Its queue is paused or lets no more attempts start now. */
  reason: 'queue'
  /** The name of the queue. */
  queue: string
}

export type BlockedByHold = {
  /** The operator holds it since the restore of a backup. */
  reason: 'held'
}

export type LastRun = {
  /** The id, which never changes. */
  id: Id
  /** Whether the attempt succeeded. */
  status: 'success' | 'failed'
  /** The status of the response; null when there was no response. */
  responseStatus: number | null
  /** Why the attempt failed; null when it succeeded. */
  errorCode: RunErrorCode | null
  /** When the attempt ended. */
  finishedAt: Timestamp
}

export type TaskCount = {
  /** How many tasks match, at most 10,000. */
  count: number
  /** Whether there may be more: at most 100,000 tasks are checked, and 10,000 counted. */
  isCapped: boolean
}

export type CancelledTasks = {
  /** The number of tasks that this request cancelled. */
  cancelled: number
  /** Set when there are too many for one request; they follow in the background. */
  operation: TaskOperation | null
}

export type TaskOperation = {
  /** The id, which never changes. */
  id: Id
  /** The workspace that it belongs to. */
  workspaceId: Id
  /** What happened, or what the operation does. */
  action: 'cancel' | 'stop'
  /** The filter of the request. */
  filter: {
    /** What created the tasks; null: any source. */
    source: Array<'task' | 'cron' | 'event' | 'callback'> | null
    /** The cron jobs of the tasks; null: any. */
    cronjobId: Id[] | null
    /** The events of the tasks; null: any. */
    eventId: Id[] | null
    /** The topics of the tasks; null: any. */
    topic: string[] | null
    /** Labels, of which a task has at least one; null: any. */
    label: string[] | null
    /** The queues of the tasks; null: any. */
    queue: string[] | null
    /** The tasks that these callbacks report; null: any. */
    callbackOf: Id[] | null
    /** The beginning of the name; null: any. */
    name: string | null
    /** The hosts that the tasks call; null: any. */
    host: string[] | null
    /** The earliest `executeAt`; null: no bound. */
    from: Timestamp | null
    /** The time before which `executeAt` is; null: no bound. */
    to: Timestamp | null
    /** Whether only occurrences that are not due yet match, or only other tasks; null: any. */
    upcoming: boolean | null
  }
  /** Whether it is running, done or cancelled. */
  status: 'running' | 'done' | 'cancelled'
  /** Tasks that matched when it started, of the first 100,000 in the workspace; never less than `ended`. */
  total: number
  /** Tasks cancelled or stopped so far. */
  ended: number
  /** When it was created. */
  createdAt: Timestamp
  /** When it was last changed. */
  updatedAt: Timestamp
  /** When it ended; null before. */
  finishedAt: Timestamp | null
}

export type StoppedTasks = {
  /** The number of tasks that this request stopped. */
  stopped: number
  /** Set when there are too many for one request; they follow in the background. */
  operation: TaskOperation | null
}

export type ReplayedDeadLetters = {
  /** The number of dead letters that this request replayed. */
  replayed: number
  /** Set when there are too many for one request; the rest follows in the background. */
  operation: DeadLetterOperation | null
}

export type DeadLetterOperation = {
  /** The id, which never changes. */
  id: Id
  /** The workspace that it belongs to. */
  workspaceId: Id
  /** What happened, or what the operation does. */
  action: 'replay' | 'discard'
  /** The filter of the request. */
  filter: {
    /** The cron jobs of the tasks; null: any. */
    cronjobId: Id | null
    /** The topics of the tasks; null: any. */
    topic: string | null
    /** Labels, of which a task has at least one; null: any. */
    label: string | null
    /** The earliest `executeAt`; null: no bound. */
    from: Timestamp | null
    /** The time before which `executeAt` is; null: no bound. */
    to: Timestamp | null
    /** The beginning of the name; null: any. */
    name: string | null
    /** The hosts that the tasks call; null: any. */
    host: string[] | null
    /** The errors of the last runs; null: any. */
    error: RunErrorCode[] | null
    /** The statuses of the last runs, or classes such as `5xx`; null: any. */
    responseStatus: string[] | null
  }
  /** How many of its replays are due per second. Null: all at once. */
  perSecond: number | null
  /** Whether it is running, done or cancelled. */
  status: 'running' | 'done' | 'cancelled'
  /**
   * Dead letters that matched when it started, of the first 100,000 in the workspace; never less than
   * `settled`.
   */
  total: number
  /** Dead letters replayed or discarded so far. */
  settled: number
  /** When it was created. */
  createdAt: Timestamp
  /** When it was last changed. */
  updatedAt: Timestamp
  /** When it ended; null before. */
  finishedAt: Timestamp | null
}

export type DiscardedDeadLetters = {
  /** The number of dead letters that this request discarded. */
  discarded: number
  /** Set when there are too many for one request; the rest follows in the background. */
  operation: DeadLetterOperation | null
}

export type BulkOperation = {
  /** The id, which never changes. */
  id: Id
  /** The workspace that it belongs to. */
  workspaceId: Id
  /** What happened, or what the operation does. */
  action: 'cancel' | 'stop' | 'replay' | 'discard'
  /** The chosen tasks. Null: all that match the filter. */
  ids: Id[] | null
  /** The filter of the request. */
  filter: {
    /** What created the tasks; null: any source. */
    source: Array<'task' | 'cron' | 'event' | 'callback'> | null
    /** The cron jobs of the tasks; null: any. */
    cronjobId: Id[] | null
    /** The events of the tasks; null: any. */
    eventId: Id[] | null
    /** The topics of the tasks; null: any. */
    topic: string[] | null
    /** Labels, of which a task has at least one; null: any. */
    label: string[] | null
    /** The queues of the tasks; null: any. */
    queue: string[] | null
    /** The tasks that these callbacks report; null: any. */
    callbackOf: Id[] | null
    /** The beginning of the name; null: any. */
    name: string | null
    /** The hosts that the tasks call; null: any. */
    host: string[] | null
    /** The earliest `executeAt`; null: no bound. */
    from: Timestamp | null
    /** The time before which `executeAt` is; null: no bound. */
    to: Timestamp | null
    /** Whether only occurrences that are not due yet match, or only other tasks; null: any. */
    upcoming: boolean | null
    /** Why the tasks ended without the outcome of an attempt; null: any reason, and none. */
    stateReason: string[] | null
    /** The errors of the last runs; null: any. */
    error: RunErrorCode[] | null
    /** The statuses of the last runs, or classes such as `5xx`; null: any. */
    responseStatus: string[] | null
  }
  /** How many of its replays are due per second. Null: all at once. */
  perSecond: number | null
  /** Whether it is running, done or cancelled. */
  status: 'running' | 'done' | 'cancelled'
  /** Tasks that matched when it started, of the first 100,000 in the workspace; never less than `done`. */
  total: number
  /** Tasks cancelled, stopped, replayed or discarded so far. */
  done: number
  /** When it was created. */
  createdAt: Timestamp
  /** When it was last changed. */
  updatedAt: Timestamp
  /** When it ended; null before. */
  finishedAt: Timestamp | null
}

export type CronJob = {
  /** The id, which never changes. */
  id: Id
  /** The workspace that it belongs to. */
  workspaceId: Id
  /** The key that its creator chose. */
  key: string | null
  /** The name that its creator chose. */
  name: string
  /** The schedule in five fields: minute, hour, day of month, month, day of week. */
  cron: string
  /** The IANA time zone of the schedule. */
  timezone: string
  /** The schedule in English. */
  description: string
  /** The URL that is called. */
  url: string
  /** The HTTP method. */
  method: string
  /** The headers, by name. */
  headers: Record<string, string>
  /** Any JSON value, unchanged. */
  payload: unknown
  /** The body in base64, when it was given so; `payload` is then null. */
  payloadBase64: string | null
  /** The content type of `payloadBase64`. */
  contentType: string | null
  /** When failed attempts are repeated. */
  retry: RetryPolicy
  /** The time limit of an attempt, from connecting to the last byte, in milliseconds. */
  timeoutMs: number
  /** Called with the task and the run when the task succeeds. */
  onSuccess: Callback | null
  /** Called when the task is dead. */
  onFailure: Callback | null
  /** Called after each attempt. */
  onAttempt: Callback | null
  /** The name of its queue. */
  queue: string | null
  /** The name of the connection that authenticates its calls. */
  connection: string | null
  /** Whether a run starts while an earlier one is unfinished. */
  overlap: 'allow' | 'skip'
  /** Which missed runs are made up for after an outage. */
  catchUp: 'latest' | 'all' | 'none'
  /** No run starts earlier; null: no bound. */
  startsAt: Timestamp | null
  /** No run starts at this time or later. */
  endsAt: Timestamp | null
  /** No attempt starts this long after the time of the task, in milliseconds. */
  maxAgeMs: number | null
  /** The labels of its tasks. */
  labels: string[]
  /** `ended` when no run is left. */
  status: 'active' | 'paused' | 'ended'
  /** The first failure since which no call has succeeded. */
  failingSince: Timestamp | null
  /** `failing`: Belfry has switched it off, because it only failed for days. Null otherwise. */
  pausedReason: 'failing' | null
  /** The first of `nextRuns`; null when paused or ended. */
  nextRunAt: Timestamp | null
  /** The next runs. */
  nextRuns: Timestamp[]
  /** The runs that a clock change affects. */
  notes: RunTimeNote[]
  /** The latest attempt that ended; null before. */
  lastRun: LastRun | null
  /** The user or the API key that created it. Null: Belfry, or before this was recorded. */
  createdBy: string | null
  /** The user or the API key that changed it last. */
  updatedBy: string | null
  /** When it was created. */
  createdAt: Timestamp
  /** When it was last changed. */
  updatedAt: Timestamp
}

export type RunTimeNote = {
  /** When the run starts. */
  at: Timestamp
  /** The scheduled local time, which did not exist (gap) or occurred twice (overlap). */
  local: string
  /** Whether the scheduled local time did not exist (`clockGap`) or occurred twice (`clockOverlap`). */
  code: 'clock_gap' | 'clock_overlap'
}

export type CronPreview = {
  /** The schedule in English. */
  description: string
  /** The next runs. */
  nextRuns: Timestamp[]
  /** The runs that a clock change affects. */
  notes: RunTimeNote[]
}

export type Backfill = {
  /** The tasks that this request created. */
  created: number
  /** Occurrences of the time that have a task already. */
  skipped: number
}

export type Run = {
  /** The id, which never changes. */
  id: Id
  /** The workspace that it belongs to. */
  workspaceId: Id
  /** The task. */
  taskId: Id
  /** The name of the task. */
  taskName: string
  /** What created the task. */
  source: 'task' | 'cron' | 'event' | 'callback'
  /** The cron job of the task; null for other tasks. */
  cronjobId: Id | null
  /**
   * The time zone of the cron job: the present one, or that of the day when the run moved to object
   * storage. Null when the cron job has gone, and for other tasks.
   */
  cronjobTimezone: string | null
  /** The topic of the event; null for other tasks. */
  topic: string | null
  /** The labels of the task. */
  labels: string[]
  /** 1 for the first attempt. */
  attempt: number
  /** Whether the attempt succeeded. */
  status: 'success' | 'failed'
  /** When the attempt should have started. */
  scheduledAt: Timestamp
  /** When the attempt started. */
  startedAt: Timestamp
  /** When the attempt ended. */
  finishedAt: Timestamp
  /** How long the attempt took, in milliseconds. */
  durationMs: number
  /** The delay between the scheduled time and the start. */
  lagMs: number
  /**
   * What a late start waited for, for most of the time. Null when the start was less than a second late, or
   * when the reason is not known.
   */
  waitedFor: WaitReason | null
  /**
   * How long the steps of the call took, in milliseconds. A step is null when the call had none or did not
   * complete it; a kept-alive connection has only `firstByteMs`. Null when the DNS lookup did not end, when
   * nothing was sent, or when the call was repeated with a new access token.
   */
  timings: {
    /** The DNS lookup. */
    dnsMs: number | null
    /** The TCP connect, or the tunnel through an egress proxy. */
    connectMs: number | null
    /** The TLS handshake. */
    tlsMs: number | null
    /** From the first byte of the request to the first byte of the response. */
    firstByteMs: number | null
  } | null
  /** The URL that is called. */
  url: string
  /** The HTTP method. */
  method: string
  /** The status of the response; null when there was no response. */
  responseStatus: number | null
  /** Why the attempt failed; null when it succeeded. */
  error: {
    /** A stable code, such as `timeout`. */
    code: RunErrorCode
    /** What happened, in a sentence. */
    message: string
  } | null
  /**
   * What was odd about a success, such as headers that could not be read. Null for a failure, whose `error`
   * says it.
   */
  note: string | null
}

export type RunFailures = {
  /** The groups with the most runs first; at most 50. */
  data: FailureGroup[]
  /** The number of runs that the groups were made from. */
  counted: number
  /**
   * There may be more failed runs: the groups are made from the latest ones, without those in object
   * storage.
   */
  isPartial: boolean
}

export type FailureGroup = {
  /** The host of the target, with its port where the URL has one. */
  host: string
  /** Why the runs failed. */
  errorCode: string
  /** The status of the response; null when there was no response. */
  responseStatus: number | null
  /** The message of the latest run. */
  errorMessage: string
  /**
   * The first 120 characters of the response of the latest run, without markup; null when it had no text.
   */
  cause: string | null
  /** The number of failed runs. */
  count: number
  /** Whether users have ignored or resolved it. A run after the resolution opens it again. */
  state: 'open' | 'ignored' | 'resolved'
  /** When the first of them started. */
  firstAt: Timestamp
  /** When the latest of them started. */
  lastAt: Timestamp
  /** The latest run, as an example. */
  lastRunId: Id
  /** The name of its task. */
  taskName: string
}

export type RunCounts = {
  /** The start of the first bucket, at most 32 days ago. */
  from: Timestamp
  /** The end of the last bucket. */
  to: Timestamp
  /** The length of a bucket, in milliseconds. */
  bucketMs: number
  /** At most 61 buckets. */
  buckets: Array<{
    /** The start of the bucket. */
    at: Timestamp
    /** Attempts that started. */
    total: number
    /** The number of failed attempts. */
    failed: number
  }>
}

export type RunDetail = Run & {
  /** The request, as it was sent; secrets are hidden. */
  request: {
    /** The URL that is called. */
    url: string
    /** The HTTP method. */
    method: string
    /** The headers, by name. */
    headers: Record<string, string>
    /** The body, in the form of `bodyEncoding`; null without a body. */
    body: string | null
    /** `utf8` for text; otherwise `base64`. */
    bodyEncoding: 'utf8' | 'base64'
    /** The request is stored completely. */
    bodyTruncated: false
  }
  /** Null when there was no response. */
  response: {
    /** The HTTP status. */
    status: number
    /** The headers, by name. */
    headers: Record<string, string | string[]>
    /** Decoded by the charset of its Content-Type, and decompressed up to 64 KiB. */
    body: string
    /** Bytes received; `body` may be shorter. */
    bodyBytes: number
    /** Whether `body` is only the beginning of what was received. */
    bodyTruncated: boolean
    /** `utf8` for text; otherwise `base64`. */
    bodyEncoding: 'utf8' | 'base64'
  } | null
}

export type Hosts = {
  /** The hosts, those that are paused or have an open circuit breaker first. */
  data: Host[]
  /** Hosts beyond the first 200. */
  omitted: number
}

export type Host = {
  /** A host name or address, with its port. */
  host: string
  /** The circuit breaker of the host for this workspace. */
  circuit: {
    /** `closed`: calls start. `open`: tasks wait. `halfOpen`: one attempt at a time probes the host. */
    state: 'closed' | 'open' | 'half_open'
    /** When the breaker opened; null while it is closed. */
    since: Timestamp | null
    /** When Belfry may probe the host with one attempt; null while the breaker is closed. */
    nextProbeAt: Timestamp | null
    /** The dispatchers in which the breaker is not closed. */
    dispatchers: number
  }
  /** Since when a user has paused it; null unless it is paused. */
  pausedAt: Timestamp | null
  /** Tasks that are due and not started. */
  waiting: number
  /** Only the first 10,000 waiting tasks of the workspace were counted. */
  waitingIsCapped: boolean
  /** Attempts in flight. */
  inFlight: number
  /**
   * How many calls to it may be in flight at once, from all dispatchers and workspaces. 0: no dispatcher is
   * running.
   */
  maxInFlight: number
  /** The attempts that have ended, by the time of their start. */
  health: {
    /** The attempts of the current minute and the four before. */
    fiveMinutes: HostCount
    /** The attempts of the current minute and the 59 before. */
    hour: HostCount
    /** The attempts of the current hour of the clock and the 23 before. */
    day: HostCount
  }
  /** The latest failed run of the last 24 hours. */
  lastFailure: {
    /** The run. */
    runId: Id
    /** When it started. */
    at: Timestamp
    /** The status of the response; null when there was no response. */
    responseStatus: number | null
    /** Why the attempt failed; null when it succeeded. */
    errorCode: string | null
  } | null
}

export type HostCount = {
  /** Attempts that started in the window. */
  attempts: number
  /** Attempts of the window that failed. */
  failed: number
  /** The mean duration of an attempt; null without attempts. */
  durationMs: number | null
}

export type ResetHost = {
  /** The dispatchers that close the breaker, within two seconds. */
  dispatchers: number
}

export type Status = {
  /** They make the calls. */
  dispatchers: {
    /** Processes with a heartbeat in the last five seconds. */
    live: number
    /** The latest heartbeat; null when there is none. */
    lastSeenAt: Timestamp | null
  }
  /** They run cron jobs and statistics. */
  schedulers: {
    /** Processes with a heartbeat in the last five seconds. */
    live: number
    /** The latest heartbeat; null when there is none. */
    lastSeenAt: Timestamp | null
  }
  /**
   * `down`: Redis does not answer, and dispatchers read due tasks from PostgreSQL. `none`: no Redis is
   * used.
   */
  queue: 'up' | 'down' | 'none'
  /** What keeps tasks of the workspace from running, the most severe first. Empty: nothing does. */
  notices: Notice[]
}

export type Notice = {
  /**
   * Processes that do not run, a limit that is used up, tasks held since a restore, open circuit breakers,
   * or what users have paused.
   */
  kind:
    | 'no_dispatcher'
    | 'no_scheduler'
    | 'executions_used'
    | 'storage_full'
    | 'held'
    | 'circuit_open'
    | 'host_paused'
    | 'queue_paused'
    | 'cron_job_paused'
    | 'queue_down'
  /** How many hosts, queues or cron jobs there are; 1 for other kinds. */
  count: number
  /** The host, the queue or the cron job, if there is one; null for several and for other kinds. */
  name: string | null
  /** Since when, for the first of them; the last heartbeat of processes. Null: not known. */
  since: Timestamp | null
  /** Due tasks that wait for it, or that were cancelled for the limit this month; counted up to 10,000. */
  tasks: number
}

export type Queue = {
  /** The name that its creator chose. */
  name: string
  /** Attempts in flight at a time, over all dispatchers. */
  maxConcurrent: number | null
  /** How many attempts may start in a period; null: any number. */
  rateLimit: RateLimit | null
  /**
   * One task at a time, in the order of `executeAt`, then creation. The next task waits until the one
   * before is final.
   */
  ordered: boolean
  /** Since when no task starts; null unless it is paused. */
  pausedAt: Timestamp | null
  /** Tasks that are due and not started; counted up to 10,000. */
  waiting: number
  /** Attempts in flight. */
  inFlight: number
  /** For how long the first waiting task has been due. */
  oldestDueMs: number | null
  /** When it was created. */
  createdAt: Timestamp
  /** When it was last changed. */
  updatedAt: Timestamp
}

/** At most `count` attempts start within any period of this length, by PostgreSQL’s clock. */
export type RateLimit = {
  /** The number of attempts that may start in a period, 1 to 10,000. */
  count: number
  /** The length of a period in milliseconds, 100 to 86,400,000. */
  periodMs: number
}

export type Subscription = {
  /** The id, which never changes. */
  id: Id
  /** The workspace that it belongs to. */
  workspaceId: Id
  /** The key that its creator chose. */
  key: string | null
  /** The topics that it receives: one, all below one (`orders.*`), or all (`*`). */
  topic: string
  /**
   * Conditions on members of the payload. Only events for which all of them hold are sent; a missing member
   * satisfies only `ne` and `exists: false`.
   */
  filter: Condition[]
  /** The URL that is called. */
  url: string
  /** The headers, by name. */
  headers: Record<string, string>
  /** When failed attempts are repeated. */
  retry: RetryPolicy
  /** The time limit of an attempt, from connecting to the last byte, in milliseconds. */
  timeoutMs: number
  /** The name of its queue. */
  queue: string | null
  /** The name of the connection that authenticates its calls. */
  connection: string | null
  /** Called with the task and the run when the task succeeds. */
  onSuccess: Callback | null
  /** Called when the task is dead. */
  onFailure: Callback | null
  /** Called after each attempt. */
  onAttempt: Callback | null
  /** No attempt starts this long after the time of the task, in milliseconds. */
  maxAgeMs: number | null
  /** The labels of its tasks. */
  labels: string[]
  /** Whether it receives events. */
  active: boolean
  /** The first failure since which no call has succeeded. */
  failingSince: Timestamp | null
  /** `failing`: Belfry has switched it off, because it only failed for days. Null otherwise. */
  pausedReason: 'failing' | null
  /** When it ends unless its MCP client renews it; null for never. */
  expiresAt: Timestamp | null
  /** Of a subscription that an MCP client made, and renews before `expiresAt`. Null for any other. */
  mcp: {
    /** The type of the events. */
    name: string
    /** What its client asked for. */
    arguments: Record<string, unknown>
    /** Who subscribed at another MCP server. Null: the API key that created it. */
    principal: string | null
  } | null
  /** The user or the API key that created it. Null: Belfry, or before this was recorded. */
  createdBy: string | null
  /** When it was created. */
  createdAt: Timestamp
  /** When it was last changed. */
  updatedAt: Timestamp
}

export type SubscriptionSecret = {
  /** The id, which never changes. */
  id: Id
  /**
   * The secret with which receivers verify signatures, in the format of the Standard Webhooks libraries.
   */
  secret: string
  /** When it was created. */
  createdAt: Timestamp
  /** When a replaced secret stops signing; null for the current secret. */
  expiresAt: Timestamp | null
}

export type PublishedEvent = {
  /** The id, which never changes. */
  id: Id
  /** The topic. */
  topic: string
  /** One task per target; none when no subscription matches. */
  tasks: Task[]
}

export type Organization = {
  /** The id, which never changes. */
  id: Id
  /** The name that its creator chose. */
  name: string
  /** Unique; part of dashboard URLs. */
  slug: string
  /** The name of the tier. */
  tier: string
  /** The permissions of members, as opposed to owners and admins, in all workspaces of the organization. */
  policy: Policy
  /** How long a new API key is valid at most. Null: without limit. */
  maxApiKeyDays: number | null
  /** Whether members need a second factor. API keys are not affected. */
  requireSecondFactor: boolean
  /** When it was created. */
  createdAt: Timestamp
  /** When it was last changed. */
  updatedAt: Timestamp
}

/** The permissions of members, as opposed to owners and admins, in all workspaces of the organization. */
export type Policy = {
  /** Whether members may invite users, and list and revoke invitations. */
  membersCanInvite: boolean
  /** Whether members may list, create and revoke API keys. */
  membersCanCreateApiKeys: boolean
  /**
   * Whether members may list, create, replace and delete secrets and signing secrets, and change
   * connections.
   */
  membersCanCreateSecrets: boolean
  /** Whether members may create workspaces. */
  membersCanCreateWorkspaces: boolean
  /**
   * Whether members may cancel and stop tasks, discard dead letters, and delete cron jobs, queues and
   * subscriptions.
   */
  membersCanDeleteTasks: boolean
  /** Whether members may manage integrations. */
  membersCanManageIntegrations: boolean
}

export type OrganizationDetail = Organization & {
  /** Usage of the tier. Owners only. */
  usage?: {
    /** A UTC calendar month; start is included, end is not. */
    period: Period
    /** Tasks whose dispatch started in the period; retries do not count. */
    executions: {
      /** How much is used. */
      used: number
      /** Null: no limit. */
      limit: number | null
    }
    /** Stored payloads and captured responses; updated within seconds. */
    storageBytes: {
      /** How much is used. */
      used: number
      /** Null: no limit. */
      limit: number | null
    }
    /** Its workspaces. */
    workspaces: {
      /** How much is used. */
      used: number
      /** The maximum number. */
      limit: number
    }
  }
}

/** A UTC calendar month; start is included, end is not. */
export type Period = {
  /** The first moment of the month. */
  start: Timestamp
  /** The first moment of the next month. */
  end: Timestamp
}

export type OrganizationSummary = {
  /** The id, which never changes. */
  id: Id
  /** The name that its creator chose. */
  name: string
  /** Unique; part of dashboard URLs. */
  slug: string
  /** The name of the tier. */
  tier: string
}

export type Member = {
  /** The user. */
  user: {
    /** The id, which never changes. */
    id: Id
    /** The email address. */
    email: string
    /** The name that its creator chose. */
    name: string
  }
  /** The role. */
  role: 'owner' | 'admin' | 'member'
  /** The default role in workspaces that the member joins later, from the invitation. */
  workspaceRole: 'viewer' | 'editor'
  /** When the user joined. */
  joinedAt: Timestamp
}

export type AuditStream = {
  /** The host of the URL, which itself is never returned; null while there is no stream. */
  target: string | null
  /** The current secret, and the previous one while it also signs. */
  signingSecrets: Array<{
    /** The secret, for `webhooks.verify`. */
    secret: string
    /** When it stops being valid; null for no end. */
    expiresAt: Timestamp | null
  }>
  /** How many entries were not received yet, counted up to 10,001. */
  waiting: number
  /** Why the latest message was not received; null when it was, or when none was sent. */
  lastError: string | null
  /** When it was last changed; null while there is no stream. */
  updatedAt: Timestamp | null
}

export type Workspace = {
  /** The id, which never changes. */
  id: Id
  /** The organization that it belongs to. */
  organizationId: Id
  /** The name that its creator chose. */
  name: string
  /** Whether the log keeps the headers and bodies of responses to requests with secrets. */
  keepsResponsesWithSecrets: boolean
  /** Whether deliveries also have a `v1a` signature (Ed25519), which receivers verify with a public key. */
  asymmetricSignatures: boolean
  /**
   * After how many days a cron job or subscription that only fails is switched off. Owners are warned after
   * half of them. 0: never.
   */
  switchOffAfterDays: number
  /** When it was created. */
  createdAt: Timestamp
  /** When it was last changed. */
  updatedAt: Timestamp
}

export type WorkspaceMember = {
  /** The user. */
  user: {
    /** The id, which never changes. */
    id: Id
    /** The email address. */
    email: string
    /** The name that its creator chose. */
    name: string
  }
  /** The role. */
  role: 'viewer' | 'editor'
  /** When the user was added. */
  addedAt: Timestamp
}

export type FederatedCredential = {
  /** The id, which never changes. */
  id: Id
  /** The workspace that it belongs to. */
  workspaceId: Id
  /** The name that its creator chose. */
  name: string
  /** The URL of the issuer. */
  issuer: string
  /** The `aud` of the tokens. */
  audience: string
  /** The claims that a token must have. */
  conditions: Record<string, string>
  /** The scopes of the keys, as of an API key. Never more than the rights of its creator. */
  scopes: string[]
  /** How long a key is valid. */
  lifetimeMs: number
  /** The user who created it. */
  createdBy: Id
  /** When it was created. */
  createdAt: Timestamp
  /** When it was last used; null before the first use. */
  lastUsedAt: Timestamp | null
}

export type Secret = {
  /** The name in references `{{ secrets.NAME }}`. */
  name: string
  /** The hosts that it may be sent to. Null: every host. */
  allowedHosts: string[] | null
  /** When it was created. */
  createdAt: Timestamp
  /** When it was last changed. */
  updatedAt: Timestamp
}

export type SigningKey = {
  /** The key with which receivers verify `v1a` signatures (Ed25519). It may be published. */
  publicKey: string
  /** When a replaced key stops signing; null for the current key. */
  expiresAt: Timestamp | null
}

export type SigningSecret = {
  /** The id, which never changes. */
  id: Id
  /** The workspace that it belongs to. */
  workspaceId: Id
  /**
   * The secret with which receivers verify signatures, in the format of the Standard Webhooks libraries.
   */
  secret: string
  /** The key with which receivers verify `v1a` signatures (Ed25519). It may be published. */
  publicKey: string
  /** When it was created. */
  createdAt: Timestamp
  /** When a replaced secret stops signing; null for the current secret. */
  expiresAt: Timestamp | null
}

export type Connection = {
  /** The name that its creator chose. */
  name: string
  /** How it proves who calls. */
  kind: 'header' | 'basic' | 'oauth2' | 'identity_token' | 'tls'
  /** The hosts that it may authenticate to. */
  hosts: string[]
  /** Of the kind `header`: the name of the header. */
  header: string | null
  /** Of the kind `basic`. */
  username: string | null
  /** Of the kind `oauth2`: the token endpoint. */
  tokenUrl: string | null
  /** Of the kind `oauth2`. */
  clientId: string | null
  /** Of the kind `oauth2`: whether the client proves who it is by HTTP Basic, or in the body. */
  clientAuthentication: 'basic' | 'post' | null
  /** Of the kind `oauth2`. */
  scope: string | null
  /** Of the kind `oauth2`: further parameters of the token request. */
  parameters: Record<string, string> | null
  /** Of the kind `identityToken`. */
  audience: string | null
  /** Of the kind `identityToken`: how long a token is valid, in seconds. */
  lifetimeS: number | null
  /** Authorities that are trusted in addition to the public ones, as PEM. */
  caCertificate: string | null
  /** The certificate that calls present to the target, as PEM. */
  clientCertificate: string | null
  /** When it was created. */
  createdAt: Timestamp
  /** When it was last changed. */
  updatedAt: Timestamp
}

export type ConnectionTest = {
  /** Whether the test succeeded. */
  ok: boolean
  /** What happened, without secrets. */
  message: string
  /** The status of the response to the call of `url`. */
  responseStatus: number | null
}
