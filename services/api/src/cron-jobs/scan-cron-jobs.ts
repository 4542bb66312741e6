import type { CronJobStatus, ListCronJobsQuery } from '@belfry/contract'
import { isOnPage, type Scan } from '../http/bounded-page.ts'
import { where } from '../http/where.ts'
import { selectCronJobs } from './cron-job-row.ts'

export type CronJobFilter = Omit<ListCronJobsQuery, 'limit' | 'cursor'>

const hasStatus: Record<CronJobStatus, string> = {
  active: 'j.paused_at IS NULL AND (j.ends_at IS NULL OR j.ends_at > now())',
  paused: 'j.paused_at IS NOT NULL AND (j.ends_at IS NULL OR j.ends_at > now())',
  ended: 'j.ends_at <= now()',
}

/** Reads the cron jobs of a workspace along its index; what a filter asks for is looked for in each of them. */
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
