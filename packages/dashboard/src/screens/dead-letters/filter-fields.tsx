import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { cronJobNamesQuery } from '../../api/cron-job-names.ts'
import { useWorkspace } from '../../session/scope.ts'
import { FilterBar, SearchFilter, SelectFilter } from '../../ui/filter-bar.tsx'
import type { Filters } from '../../ui/use-filters.ts'
import { RangeFilter } from '../log/range-filter.tsx'
import type { DeadLetterFilters } from './dead-letter-filters.ts'

/** The choices of the list. The time is that at which a task was due. */
export function FilterFields({ filters }: { filters: Filters<DeadLetterFilters> }): ReactNode {
  const { workspace } = useWorkspace()
  const { data: cronJobs = [] } = useQuery(cronJobNamesQuery(workspace.id))
  return (
    <FilterBar filters={filters}>
      <SearchFilter filters={filters} name="topic" label="Topic, in full" />
      {cronJobs.length > 0 && (
        <SelectFilter
          filters={filters}
          name="cronjob_id"
          label="Cron job"
          all="Any cron job"
          options={cronJobs.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
      <RangeFilter filters={filters} />
    </FilterBar>
  )
}
