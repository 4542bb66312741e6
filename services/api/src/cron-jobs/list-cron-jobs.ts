import {
  type CronJob,
  type CronJobStatus,
  cronJob,
  type ListCronJobsQuery,
  listCronJobsQuery,
  pageOf,
} from '@belfry/contract'
import { isOnPage, readBoundedPage, type Scan } from '../http/bounded-page.ts'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { where } from '../http/where.ts'
import { type CronJobRow, selectCronJobs } from './cron-job-row.ts'
import { presentCronJob } from './present-cron-job.ts'

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

export type CronJobFilter = Omit<ListCronJobsQuery, 'limit' | 'cursor'>

const hasStatus: Record<CronJobStatus, string> = {
  active: 'j.paused_at IS NULL AND (j.ends_at IS NULL OR j.ends_at > now())',
  paused: 'j.paused_at IS NOT NULL AND (j.ends_at IS NULL OR j.ends_at > now())',
  ended: 'j.ends_at <= now()',
}

/** Reads the cron jobs of a workspace along its index, and applies the filter to each of them. */
export function scanCronJobs(workspaceId: string, { status, name }: CronJobFilter): Scan {
  const along = where()
  const streams = `unnest(ARRAY[${along.add(workspaceId)}::uuid]) AS workspace (id)`
  along.and('j.workspace_id = workspace.id')
  const rest = where(along)
  if (status) rest.and(`(${status.map(one => `(${hasStatus[one]})`).join(' OR ')})`)
  if (name) rest.and('starts_with(j.name, ?)', name)
  return {
    streams,
    streamCount: 1,
    table: 'cron_jobs',
    alias: 'j',
    order: 'j.id DESC',
    along,
    rest,
    read: `${selectCronJobs} WHERE ${isOnPage('j.id')}`,
  }
}
