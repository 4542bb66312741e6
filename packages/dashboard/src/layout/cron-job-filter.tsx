import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { cronJobNamesQuery } from '../api/cron-jobs.ts'
import { useWorkspace } from '../session/scope.ts'
import { SelectFilter, withChosen } from '../ui/filter-bar.tsx'
import type { Filters } from '../ui/use-filters.ts'

/** Filters a list by cron job. Hidden while the workspace has no cron jobs. */
export function CronJobFilter({ filters }: { filters: Pick<Filters<'cronjob_id'>, 'first' | 'set'> }): ReactNode {
  const { workspace } = useWorkspace()
  const { data = [] } = useQuery(cronJobNamesQuery(workspace.id))
  const chosen = filters.first('cronjob_id')
  if (data.length === 0 && chosen === '') return null
  const options = data.map(({ id, name }) => ({ value: id, label: name }))
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
