import { type CronJobStatus, cronJob, listCronJobsQuery, pageOf } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { readCursor, toPage } from '../http/page.ts'
import { ok } from '../http/reply.ts'
import { where } from '../http/where.ts'
import { type CronJobRow, selectCronJobs } from './cron-job-row.ts'
import { presentCronJob } from './present-cron-job.ts'

const hasStatus: Record<CronJobStatus, string> = {
  active: 'j.paused_at IS NULL AND (j.ends_at IS NULL OR j.ends_at > now())',
  paused: 'j.paused_at IS NOT NULL AND (j.ends_at IS NULL OR j.ends_at > now())',
  ended: 'j.ends_at <= now()',
}

export const listCronJobs = endpoint({
  right: 'cron_job.read',
  summary: 'List cron jobs, newest first',
  answer: { status: 200, body: pageOf(cronJob) },
  query: listCronJobsQuery,
  async handle(ctx, { caller, query }) {
    const list = `cronjobs:${caller.workspaceId}`
    const after = readCursor(list, query)
    const filter = where()
    filter.and('j.workspace_id = ?', caller.workspaceId)
    if (after) filter.and('j.id < ?', after)
    if (query.status) filter.and(`(${query.status.map(status => `(${hasStatus[status]})`).join(' OR ')})`)
    if (query.name) filter.and('starts_with(j.name, ?)', query.name)
    const text = `${selectCronJobs} WHERE ${filter.text} ORDER BY j.id DESC LIMIT ${query.limit + 1}`
    const { rows } = await ctx.pool.query<CronJobRow>(text, filter.values)
    const now = ctx.clock.now()
    return ok(toPage(list, query, rows, row => presentCronJob(row, now)))
  },
})
