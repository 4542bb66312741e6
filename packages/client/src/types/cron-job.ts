import type { Callback } from './callback.ts'
import type {
  ControlFields,
  Id,
  MethodInput,
  ObjectKey,
  PageOptions,
  RequestFields,
  RetryPolicy,
  Timestamp,
  TimestampInput,
} from './request.ts'
import type { LastRun } from './task.ts'

export type CreateCronJob = RequestFields &
  ControlFields &
  ObjectKey & {
    /** Default: the method and the URL without its query. */
    name?: string
    targetUrl: string | URL
    /** Default `POST`. */
    method?: MethodInput
    /** Five fields: minute, hour, day of month, month, day of week. `L`, `MON#1` and `FRIL` are days of the month. */
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
  /** The name of the connection that authenticates the calls of its tasks. */
  connection: string | null
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
