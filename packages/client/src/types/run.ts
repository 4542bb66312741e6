import type { RunErrorCode, WaitReason } from '../codes.ts'
import type { ExportFormat, Id, Page, PageOptions, Timestamp, TimestampInput } from './request.ts'
import type { Source } from './task.ts'

/** An attempt of a task. */
export type Run = {
  id: Id
  workspaceId: Id
  taskId: Id
  taskName: string
  source: Source
  cronjobId: Id | null
  /** Null when the cron job has gone, and for other tasks. */
  cronjobTimezone: string | null
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
  /** What a late start waited for. Null when it was not late, or when the reason is not known. */
  waitedFor: WaitReason | null
  /** Null when nothing was measured, for example because the DNS lookup did not end. */
  timings: RunTimings | null
  url: string
  method: string
  responseStatus: number | null
  error: { code: RunErrorCode; message: string } | null
  /** What was odd about a success, such as headers that could not be read. Null for a failure, whose `error` says it. */
  note: string | null
}

/**
 * How long the steps of a call took, in milliseconds. A step is null when the call had none or did not complete it; a call on a
 * kept-alive connection has only `firstByteMs`.
 */
export type RunTimings = {
  /** The DNS lookup. */
  dnsMs: number | null
  /** The TCP connect, or the tunnel through an egress proxy. */
  connectMs: number | null
  /** The TLS handshake. */
  tlsMs: number | null
  /** From the first byte of the request to the first byte of the response. */
  firstByteMs: number | null
}

/** One page of the log. */
export type RunPage = Page<Run> & {
  /** Whether Belfry read object storage for this page, which is slower. */
  fromStorage: boolean
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
  /** Filters with `not` leave out the runs that match any of their values. */
  notCronjobId?: Id | Id[]
  notTopic?: string | string[]
  notSource?: Source | Source[]
  notResponseStatus?: number | string | Array<number | string>
  notError?: string | string[]
  notHost?: string | string[]
  /** The beginnings of names. */
  notName?: string | string[]
  /** Compared with `startedAt`. */
  from?: TimestampInput
  to?: TimestampInput
}

/** Compared with `startedAt`. */
export type RunFailuresQuery = { from?: TimestampInput; to?: TimestampInput }

/** Compared with `startedAt`. Default: the last 24 hours. */
export type RunCountsQuery = { from?: TimestampInput; to?: TimestampInput }

/** The attempts of a time in equal buckets. */
export type RunCounts = {
  from: Timestamp
  to: Timestamp
  bucketMs: number
  buckets: Array<{ at: Timestamp; total: number; failed: number }>
}

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

export type ExportRuns = Omit<ListRuns, 'limit' | 'cursor'> & ExportFormat

export type ListOrganizationRuns = ListRuns & { workspaceId?: Id | Id[] }
