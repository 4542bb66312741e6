import type { FieldError } from './errors.ts'

/** An id such as `task_01jd…`: its kind, and 26 characters that sort by creation. */
export type Id = string

/** An instant in UTC, such as `2026-11-21T02:20:00.000Z`. */
export type Timestamp = string

/** What a time may be given as: a `Date`, or ISO 8601 text with `Z` or an offset. */
export type TimestampInput = Date | string

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/** In either case. */
export type MethodInput = Method | Lowercase<Method>

/** A value that JSON can say. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/**
 * The body to send. **Text is taken as JSON text** and forwarded byte for byte, so numbers beyond 2^53 and the order of
 * keys survive; any other value is turned into JSON. To send a bare JSON string, pass `JSON.stringify(text)`.
 */
export type PayloadInput = string | Exclude<Json, string> | object

export type TaskState = 'pending' | 'processing' | 'retrying' | 'success' | 'dead' | 'cancelled'
export type Source = 'task' | 'cron' | 'event'

/** How a failed dispatch is tried again. */
export type RetryPolicy = {
  /** 0 to 20. Default 5. */
  maxRetries: number
  /** How the delay grows: `exponential` (base · 4^(n−1)), `linear` (base · n) or `fixed`. Default `exponential`. */
  backoff: 'exponential' | 'linear' | 'fixed'
  /** 1,000 to 3,600,000 ms. Default 10,000. */
  baseDelayMs: number
  /** At most 86,400,000 ms. Default 3,600,000. */
  maxDelayMs: number
}

/** What every kind of dispatch can say about its request. */
export type RequestFields = {
  /** Further headers. At most 50; hop-by-hop, `webhook-*` and `x-belfry-*` names are refused. */
  headers?: Record<string, string>
  payload?: PayloadInput
  retry?: Partial<RetryPolicy>
  /** 1,000 to 300,000 ms, from connecting to the last byte. Default 30,000. */
  timeoutMs?: number
}

export type CreateTask = RequestFields & {
  /** 1 to 200 characters, for people. */
  name: string
  /** An absolute http(s) URL, at most 2,048 characters. */
  targetUrl: string
  method: MethodInput
  /** When to call: in the future, at most until the end of 2099. For a call at once, publish an event. */
  executeAt: TimestampInput
}

/** Only a pending task can be changed. What is left out stays. */
export type UpdateTask = Partial<CreateTask>

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
  executeAt: Timestamp
  state: TaskState
  /** Why it ended without a dispatch, such as `user` or `monthly_execution_limit`. */
  stateReason: string | null
  /** Attempts started so far. */
  attempts: number
  retry: RetryPolicy
  timeoutMs: number
  /** While the state is `retrying`: when the next attempt starts. */
  nextRetryAt: Timestamp | null
  lastRun: LastRun | null
  /** The task that this one repeats. */
  replayOf: Id | null
  createdAt: Timestamp
  updatedAt: Timestamp
  finishedAt: Timestamp | null
}

export type LastRun = {
  id: Id
  status: 'success' | 'failed'
  responseStatus: number | null
  errorCode: string | null
  finishedAt: Timestamp
}

/** One of `task` and `error`. */
export type BatchResult =
  | { index: number; task: Task; error?: undefined }
  | {
      index: number
      task?: undefined
      error: { code: string; title: string; status: number; detail: string; errors?: FieldError[] | undefined }
    }

/** Filters that are given more than once mean "or"; different filters mean "and". Times: `from` ≤ t < `to`. */
export type ListTasks = PageOptions & {
  state?: TaskState | TaskState[]
  source?: Source | Source[]
  cronjobId?: Id | Id[]
  /** Only tasks that come from events have one. */
  topic?: string | string[]
  /** What the name starts with. */
  name?: string
  /** On `executeAt`. */
  from?: TimestampInput
  to?: TimestampInput
}

/** The dead letters are the tasks in one state. */
export type ListDeadLetters = Omit<ListTasks, 'state'>

/** Either some dead letters, at most 100, or all that a filter leaves: an empty one means all. */
export type DeadLetterChoice = { ids: Id[]; filter?: undefined } | { ids?: undefined; filter: DeadLetterFilter }

/** `from` ≤ `executeAt` < `to`. */
export type DeadLetterFilter = { cronjobId?: Id; topic?: string; from?: TimestampInput; to?: TimestampInput }

/** A replay or a discard of more than 1,000, which goes on in the background. */
export type DeadLetterOperation = {
  id: Id
  workspaceId: Id
  action: 'replay' | 'discard'
  filter: { cronjobId: Id | null; topic: string | null; from: Timestamp | null; to: Timestamp | null }
  status: 'running' | 'done' | 'cancelled'
  /** Dead letters that matched when it began. */
  total: number
  /** Those that it has replayed or discarded so far. */
  settled: number
  createdAt: Timestamp
  updatedAt: Timestamp
  finishedAt: Timestamp | null
}

/** `operation` is set where there are too many for one request: see `deadLetters.progress`. */
export type ReplayedDeadLetters = { replayed: number; operation: DeadLetterOperation | null }
/** `operation` is set where there are too many for one request: see `deadLetters.progress`. */
export type DiscardedDeadLetters = { discarded: number; operation: DeadLetterOperation | null }

export type CreateCronJob = RequestFields & {
  name: string
  targetUrl: string
  method: MethodInput
  /** Five fields: minute, hour, day of month, month, day of week. */
  cron: string
  /** An IANA zone such as `Europe/Berlin`. Default `UTC`. */
  timezone?: string
  /** Whether a run may start while an earlier one has not ended. Default `allow`. */
  overlap?: 'allow' | 'skip'
  /** What happens to runs that were missed while nothing ran. Default `latest`. */
  catchUp?: 'latest' | 'all' | 'none'
  startsAt?: TimestampInput | null
  /** No run at this instant or later. */
  endsAt?: TimestampInput | null
}

export type UpdateCronJob = Partial<CreateCronJob>

/** `local` is the time that was asked for on the zone's clock: it did not exist (gap) or came twice (overlap). */
export type RunTimeNote = { at: Timestamp; local: string; code: 'clock_gap' | 'clock_overlap' }

export type CronPreview = { description: string; nextRuns: Timestamp[]; notes: RunTimeNote[] }

export type CronJob = {
  id: Id
  workspaceId: Id
  name: string
  url: string
  method: string
  headers: Record<string, string>
  payload: unknown
  retry: RetryPolicy
  timeoutMs: number
  cron: string
  timezone: string
  /** In English, when it runs. */
  description: string
  overlap: 'allow' | 'skip'
  catchUp: 'latest' | 'all' | 'none'
  startsAt: Timestamp | null
  endsAt: Timestamp | null
  status: 'active' | 'paused' | 'ended'
  nextRunAt: Timestamp | null
  nextRuns: Timestamp[]
  notes: RunTimeNote[]
  lastRun: LastRun | null
  createdAt: Timestamp
  updatedAt: Timestamp
}

export type ListCronJobs = PageOptions & {
  status?: CronJob['status'] | Array<CronJob['status']>
  name?: string
}

export type PublishEvent = Omit<RequestFields, 'payload'> & {
  /** Dotted, such as `invoice.paid`. */
  topic: string
  /** A JSON object, or its JSON text, which is forwarded byte for byte. */
  payload: string | object
  /** Where to deliver. Default: every active subscription whose topic matches. */
  targetUrl?: string
}

export type PublishedEvent = { id: Id; topic: string /** One for each target. */; tasks: Task[] }

export type CreateSubscription = Omit<RequestFields, 'payload'> & {
  /** What an event's topic has to be: exactly this, `orders.*` for all that begin so, or `*` for every one. */
  topic: string
  targetUrl: string
  /** Whether events go to it. Default true. */
  active?: boolean
}

export type UpdateSubscription = Partial<CreateSubscription>

/** A target that gets every event with a matching topic. */
export type Subscription = {
  id: Id
  workspaceId: Id
  topic: string
  url: string
  headers: Record<string, string>
  retry: RetryPolicy
  timeoutMs: number
  active: boolean
  createdAt: Timestamp
  updatedAt: Timestamp
}

/** One attempt of a dispatch. */
export type Run = {
  id: Id
  workspaceId: Id
  taskId: Id
  taskName: string
  source: Source
  cronjobId: Id | null
  topic: string | null
  /** 1 for the first. */
  attempt: number
  status: 'success' | 'failed'
  scheduledAt: Timestamp
  startedAt: Timestamp
  finishedAt: Timestamp
  durationMs: number
  /** How much later than scheduled it started. */
  lagMs: number
  url: string
  method: string
  responseStatus: number | null
  error: { code: string; message: string } | null
}

/** A run with all that was sent and received. */
export type RunDetail = Run & {
  request: {
    url: string
    method: string
    headers: Record<string, string>
    body: string | null
    /** The request is kept whole. */
    bodyTruncated: false
  }
  response: {
    status: number
    headers: Record<string, string | string[]>
    body: string
    /** Bytes received, of which `body` may hold fewer. */
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
  source?: Source | Source[]
  /** A status such as 500, or a class such as `5xx`. */
  responseStatus?: number | string | Array<number | string>
  /** On `startedAt`. */
  from?: TimestampInput
  to?: TimestampInput
}

/** As CSV with a line of names, or as one JSON object a line (with the names of the HTTP interface). Default `csv`. */
export type ExportFormat = { format?: 'csv' | 'jsonl' }
export type ExportRuns = Omit<ListRuns, 'limit' | 'cursor'> & ExportFormat
export type ExportTasks = Omit<ListTasks, 'limit' | 'cursor'> & ExportFormat

export type ListOrganizationRuns = ListRuns & { workspaceId?: Id | Id[] }

/** What an API key of one of its workspaces may know of an organization. */
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

type Share = { used: number; limit: number }

/** An organization with what it has used of its tier, which only owners see. */
export type OrganizationDetail = Organization & {
  usage?: { period: { start: Timestamp; end: Timestamp }; executions: Share; storageBytes: Share; workspaces: Share }
}

/** What members, as opposed to owners and admins, may do. */
export type Policy = {
  membersCanInvite: boolean
  membersCanCreateApiKeys: boolean
  membersCanCreateSecrets: boolean
  membersCanCreateWorkspaces: boolean
  membersCanDeleteTasks: boolean
  membersCanManageIntegrations: boolean
}

export type Workspace = { id: Id; organizationId: Id; name: string; createdAt: Timestamp; updatedAt: Timestamp }

/** What requests refer to as `{{ secrets.NAME }}`. Its value never comes back. */
export type Secret = { name: string; createdAt: Timestamp; updatedAt: Timestamp }

/** What the deliveries of a workspace are signed with. */
export type SigningSecret = {
  id: Id
  workspaceId: Id
  /** For `webhooks.verify`. */
  secret: string
  createdAt: Timestamp
  /** Until when it signs beside the current one; null for the current one. */
  expiresAt: Timestamp | null
}

export type Member = {
  user: { id: Id; email: string; name: string }
  role: 'owner' | 'admin' | 'member'
  /** The default role in workspaces that they join later. */
  workspaceRole: 'viewer' | 'editor'
  joinedAt: Timestamp
}

/** A member of the organization who belongs to one of its workspaces. */
export type WorkspaceMember = {
  user: { id: Id; email: string; name: string }
  role: 'viewer' | 'editor'
  addedAt: Timestamp
}

export type PageOptions = {
  /** Items a page: 1 to 100. Default 25. */
  limit?: number
  /** The `nextCursor` of the page before. */
  cursor?: string
}

export type Page<T> = {
  data: T[]
  /** Null on the last page. */
  nextCursor: string | null
}
