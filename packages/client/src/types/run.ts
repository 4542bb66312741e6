import type { Run } from '../generated/responses.ts'
import type { ExportFormat, Id, PageOptions, TimestampInput } from './request.ts'
import type { Source } from './task.ts'

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
  /** Only runs that started at least this many milliseconds late. */
  lateMs?: number
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
export type RunFailuresQuery = { from?: TimestampInput; to?: TimestampInput; host?: string | string[] }

/** Compared with `startedAt`. Default: the last 24 hours. */
export type RunCountsQuery = { from?: TimestampInput; to?: TimestampInput }

export type ExportRuns = Omit<ListRuns, 'limit' | 'cursor'> & ExportFormat

export type ListOrganizationRuns = ListRuns & { workspaceId?: Id | Id[] }
