import type { CronJob } from '../generated/responses.ts'
import type { ControlFields, MethodInput, ObjectKey, PageOptions, RequestFields, TimestampInput } from './request.ts'

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

export type ListCronJobs = PageOptions & {
  status?: CronJob['status'] | Array<CronJob['status']>
  label?: string | string[]
  name?: string
  /** With its port. */
  host?: string | string[]
}
