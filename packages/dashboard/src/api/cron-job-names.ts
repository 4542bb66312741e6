import type { CronJob, Page } from '@belfry/contract'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

/** The newest cron jobs of a workspace, as many as a list of choices holds. */
export function cronJobNamesQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['cron-jobs', workspaceId, 'names'],
    queryFn: async ({ signal }) => {
      const query = { limit: 100 }
      const page: Page<CronJob> = await call('GET', '/api/v1/scheduler/cronjobs', { query, workspaceId, signal })
      return page.data.map(({ id, name }) => ({ id, name }))
    },
    staleTime: 60_000,
  })
}
