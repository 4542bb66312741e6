import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { queryOf } from '../api/queries.ts'
import { useWorkspace } from '../session/scope.ts'
import { SelectFilter, withChosen } from '../ui/filter-bar.tsx'
import type { Filters } from '../ui/use-filters.ts'

/** Queries the newest cron jobs. */
export function newestCronJobs(ws: string) {
  const query = queryOf('listCronJobs', { ws, query: { limit: 100 } })
  return queryOptions({ ...query, staleTime: 60_000, select: ({ data }) => data })
}

/** Filters a list by cron job. Hidden while the workspace has no cron jobs. */
export function CronJobFilter({ filters }: { filters: Pick<Filters<'cronjob_id'>, 'first' | 'set'> }): ReactNode {
  const { workspace } = useWorkspace()
  const { data: jobs = [] } = useQuery(newestCronJobs(workspace.id))
  const chosen = filters.first('cronjob_id')
  if (jobs.length === 0 && chosen === '') return null
  const options = jobs.map(({ id, name }) => ({ value: id, label: name }))
  return (
    <SelectFilter
      filters={filters}
      name="cronjob_id"
      label="Cron job"
      all="All cron jobs"
      options={withChosen(options, chosen)}
    />
  )
}
