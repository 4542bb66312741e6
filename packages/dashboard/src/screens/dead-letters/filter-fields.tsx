import type { ReactNode } from 'react'
import { CronJobFilter } from '../../layout/cron-job-filter.tsx'
import { FilterBar, SearchFilter } from '../../ui/filter-bar.tsx'
import type { Filters } from '../../ui/use-filters.ts'
import { type LogFilterValues, toLogQuery } from '../log/log-filters.ts'
import { RangeFilter } from '../log/range-filter.tsx'

/** The filters of the list in the URL. The API accepts the same ones for bulk actions. */
export const deadLetterFilters = ['topic', 'cronjob_id', 'range', 'from', 'to'] as const

type DeadLetterFilters = (typeof deadLetterFilters)[number]

/** The filters of the list. The time range is about when a task was due. */
export function FilterFields({ filters }: { filters: Filters<DeadLetterFilters> }): ReactNode {
  return (
    <FilterBar filters={filters} search={<SearchFilter filters={filters} name="topic" label="Exact topic" />}>
      <CronJobFilter filters={filters} />
      <RangeFilter filters={filters} />
    </FilterBar>
  )
}

/** Converts the filters to those of the API, for the list and for bulk actions. */
export function toDeadLetterFilter(
  values: Partial<Record<DeadLetterFilters, string[]>>,
  now: Date,
  timeZone: string,
): { topic?: string; cronjob_id?: string; from?: string; to?: string } {
  const query = toLogQuery(values satisfies LogFilterValues, now, timeZone)
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String([value].flat()[0])]))
}
