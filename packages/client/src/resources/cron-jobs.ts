import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { CreateOptions, RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody, toDispatchBody, toNewBody } from '../request-body.ts'
import type {
  CreateCronJob,
  CronJob,
  CronPreview,
  Id,
  ListCronJobs,
  Task,
  TimestampInput,
  UpdateCronJob,
} from '../types/index.ts'

const root = '/api/v1/scheduler/cronjobs'

/** Recurring requests. */
export type CronJobs = ReturnType<typeof cronJobsOf>

export function cronJobsOf(http: Http) {
  const move = <T>(id: Id, verb: string, options?: RequestOptions): Promise<T> =>
    http.post(path`/api/v1/scheduler/cronjobs/${id}/${verb}`, undefined, options)

  return {
    /** Creates a cron job. It is stored when this resolves. Retries are safe. */
    create: (job: CreateCronJob, options?: CreateOptions): Promise<CronJob> =>
      http.create(root, toNewBody(job), options),

    /** Returns a cron job with its next five runs. Throws `NotFoundError`. */
    get: (id: Id, options?: RequestOptions): Promise<CronJob> =>
      http.get(path`/api/v1/scheduler/cronjobs/${id}`, options),

    /** Lists cron jobs, newest first. */
    list: (filters: ListCronJobs = {}, options?: RequestOptions): List<CronJob> => list(http, root, filters, options),

    /** Changes a cron job. A new `cron` or `timezone` replaces the runs that have not started. */
    update: (id: Id, change: UpdateCronJob, options?: RequestOptions): Promise<CronJob> =>
      http.patch(path`/api/v1/scheduler/cronjobs/${id}`, toDispatchBody(change), options),

    /** Deletes a cron job, and cancels its runs that have not started. */
    delete: (id: Id, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/scheduler/cronjobs/${id}`, options),

    /** Pauses a cron job. No run starts after this resolves. */
    pause: (id: Id, options?: RequestOptions): Promise<CronJob> => move(id, 'pause', options),

    /** Resumes a cron job from now on. Runs missed during the pause are skipped. */
    resume: (id: Id, options?: RequestOptions): Promise<CronJob> => move(id, 'resume', options),

    /** Runs a cron job once, immediately, in addition to its schedule. */
    trigger: (id: Id, options?: RequestOptions): Promise<Task> => move(id, 'trigger', options),

    /** Describes an expression in English, and returns its next runs strictly after `from`. Default: now. */
    preview: (
      schedule: { cron: string; timezone?: string; from?: TimestampInput /** 1 to 50. Default 5. */; count?: number },
      options?: RequestOptions,
    ): Promise<CronPreview> => http.post(`${root}/preview`, toBody(schedule), options),
  }
}
