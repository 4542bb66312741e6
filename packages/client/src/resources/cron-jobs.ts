import type { Http } from '../http.ts'
import { newIdempotencyKey } from '../idempotency-key.ts'
import { type List, list } from '../list.ts'
import type { CreateOptions, RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody, toDispatchBody } from '../request-body.ts'
import type {
  CreateCronJob,
  CronJob,
  CronPreview,
  Id,
  ListCronJobs,
  Task,
  TimestampInput,
  UpdateCronJob,
} from '../types.ts'

const root = '/api/v1/scheduler/cronjobs'

/** Calls that repeat. */
export type CronJobs = ReturnType<typeof cronJobsOf>

export function cronJobsOf(http: Http) {
  const move = <T>(id: Id, verb: string, options?: RequestOptions): Promise<T> =>
    http.json({ method: 'POST', path: path`/api/v1/scheduler/cronjobs/${id}/${verb}`, options })

  return {
    /** Starts a cron job. It is stored when this resolves; its retries are safe. */
    create: (job: CreateCronJob, options?: CreateOptions): Promise<CronJob> =>
      http.json({
        method: 'POST',
        path: root,
        body: toDispatchBody(job),
        idempotencyKey: options?.idempotencyKey ?? newIdempotencyKey(),
        options,
      }),

    /** A cron job as it is now, with its next five runs. Throws `NotFoundError` when there is none. */
    get: (id: Id, options?: RequestOptions): Promise<CronJob> =>
      http.json({ method: 'GET', path: path`/api/v1/scheduler/cronjobs/${id}`, options }),

    /** Newest first. */
    list: (filters: ListCronJobs = {}, options?: RequestOptions): List<CronJob> => list(http, root, filters, options),

    /** A change of `cron` or `timezone` replaces the runs that have not started. */
    update: (id: Id, change: UpdateCronJob, options?: RequestOptions): Promise<CronJob> =>
      http.json({
        method: 'PATCH',
        path: path`/api/v1/scheduler/cronjobs/${id}`,
        body: toDispatchBody(change),
        options,
      }),

    /** Ends a cron job, and cancels its runs that have not started. */
    delete: (id: Id, options?: RequestOptions): Promise<void> =>
      http.json({ method: 'DELETE', path: path`/api/v1/scheduler/cronjobs/${id}`, options }),

    /** No run starts from the moment this resolves. */
    pause: (id: Id, options?: RequestOptions): Promise<CronJob> => move(id, 'pause', options),

    /** Goes on from now: what was missed while paused stays out. */
    resume: (id: Id, options?: RequestOptions): Promise<CronJob> => move(id, 'resume', options),

    /** Runs it once, at once, beside its schedule. */
    trigger: (id: Id, options?: RequestOptions): Promise<Task> => move(id, 'trigger', options),

    /** Says in words when an expression runs, and when next: strictly after `from`, which is now by default. */
    preview: (
      schedule: { cron: string; timezone?: string; from?: TimestampInput /** 1 to 50. Default 5. */; count?: number },
      options?: RequestOptions,
    ): Promise<CronPreview> => http.json({ method: 'POST', path: `${root}/preview`, body: toBody(schedule), options }),
  }
}
