import type { CronJob, CronPreview } from '@belfry/contract/cron-job'
import type { RecentRuns } from '@belfry/contract/overview'
import type { Page } from '@belfry/contract/page'
import type { Task } from '@belfry/contract/task'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { patch, post, remove } from './operation.ts'
import { type ListQuery, listOptions, objectOptions } from './page.ts'
import type { RequestBody } from './tasks.ts'

const base = '/api/v1/scheduler/cronjobs'

export type NewCronJob = RequestBody & {
  name: string
  cron: string
  timezone: string
  overlap: string
  catch_up: string
  starts_at: string | null
  ends_at: string | null
  max_age_ms: number | null
  labels: string[]
}

export function cronJobsQuery(workspaceId: string, query: ListQuery = {}) {
  return listOptions<CronJob>(['cron-jobs', workspaceId], base, query, workspaceId)
}

/** Queries the names of the newest cron jobs. */
export function cronJobNamesQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['cron-jobs', workspaceId, 'names'],
    queryFn: async ({ signal }) => {
      const query = { limit: 100 }
      const page: Page<CronJob> = await call('GET', base, { query, workspaceId, signal })
      return page.data.map(({ id, name }) => ({ id, name }))
    },
    staleTime: 60_000,
  })
}

export function cronJobQuery(workspaceId: string, cronJobId: string) {
  return objectOptions<CronJob>(['cron-job', workspaceId, cronJobId], `${base}/${cronJobId}`, workspaceId)
}

export type RecentRun = RecentRuns['data'][number]['runs'][number]

// The limit of the API.
const maxIdsPerCall = 20

/** Queries the latest runs of cron jobs, by cron job id. */
export function recentRunsQuery(workspaceId: string, cronJobIds: readonly string[]) {
  return queryOptions({
    queryKey: ['recent-runs', workspaceId, cronJobIds],
    queryFn: async ({ signal }) => {
      const parts = Array.from({ length: Math.ceil(cronJobIds.length / maxIdsPerCall) }, (_, index) =>
        cronJobIds.slice(index * maxIdsPerCall, (index + 1) * maxIdsPerCall),
      )
      const pages = await Promise.all(
        parts.map(cronjob_id =>
          call<RecentRuns>('GET', `${base}/recent-runs`, { query: { cronjob_id }, workspaceId, signal }),
        ),
      )
      return new Map(pages.flatMap(({ data }) => data.map(({ cronjob_id, runs }) => [cronjob_id, runs] as const)))
    },
    placeholderData: keepPreviousData,
  })
}

export type PreviewBody = { cron: string; timezone: string; from?: string; count?: number }

/** Queries what an expression means and when it fires. */
export function cronPreviewQuery(workspaceId: string, body: PreviewBody) {
  return queryOptions({
    queryKey: ['cron-preview', workspaceId, body],
    queryFn: ({ signal }) => call<CronPreview>('POST', `${base}/preview`, { body, workspaceId, signal }),
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 30_000,
  })
}

/** @param idempotencyKey - The same for a retry of the same form, so a lost response does not create two cron jobs. */
export function createCronJob(workspaceId: string, body: NewCronJob, idempotencyKey: string): Promise<CronJob> {
  return call('POST', base, { body, workspaceId, idempotencyKey })
}

export const updateCronJob = patch('/api/v1/scheduler/cronjobs/:job')<CronJob, Partial<NewCronJob>>
export const pauseCronJob = post('/api/v1/scheduler/cronjobs/:job/pause')<CronJob>
export const resumeCronJob = post('/api/v1/scheduler/cronjobs/:job/resume')<CronJob>
export const triggerCronJob = post('/api/v1/scheduler/cronjobs/:job/trigger')<Task>
export const deleteCronJob = remove('/api/v1/scheduler/cronjobs/:job')<void>
