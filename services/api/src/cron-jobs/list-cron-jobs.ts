import { type CronJob, cronJob, listCronJobsQuery, pageOf } from '@belfry/contract'
import { readBoundedPage } from '../http/bounded-page.ts'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import type { CronJobRow } from './cron-job-row.ts'
import { presentCronJob } from './present-cron-job.ts'
import { scanCronJobs } from './scan-cron-jobs.ts'

export const listCronJobs = endpoint({
  right: 'cron_job.read',
  summary: 'List cron jobs, newest first',
  answer: { status: 200, body: pageOf(cronJob) },
  query: listCronJobsQuery,
  async handle(ctx, { caller, query }) {
    const now = ctx.clock.now()
    const scan = scanCronJobs(caller.workspaceId, query)
    const list = `cronjobs:${caller.workspaceId}`
    return ok(await readBoundedPage<CronJobRow, CronJob>(ctx, query, scan, list, row => presentCronJob(row, now)))
  },
})
