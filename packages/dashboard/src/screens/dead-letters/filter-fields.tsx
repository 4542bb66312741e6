import type { ReactNode } from 'react'
import type { Body } from '../../api/call.ts'
import { CronJobFilter } from '../../layout/cron-job-filter.tsx'
import { optionsOf } from '../../ui/field.tsx'
import { FilterBar, MultiFilter, SearchFilter } from '../../ui/filter-bar.tsx'
import type { Filters } from '../../ui/use-filters.ts'
import { errorLabels, type LogFilterValues, statusCodes, toLogQuery } from '../log/log-filters.ts'
import { RangeFilter } from '../log/range-filter.tsx'

/** The filters of the list in the URL. The API accepts the same ones for bulk actions. */
export const deadLetterFilters = [
  'name',
  'topic',
  'label',
  'host',
  'error',
  'response_status',
  'cronjob_id',
  'range',
  'from',
  'to',
] as const

/** The filter of a bulk action. */
export type DeadLetterFilter = NonNullable<Body<'replayDeadLetters'>['filter']>

type DeadLetterFilters = (typeof deadLetterFilters)[number]

const errors = optionsOf(errorLabels)

/** The filters of the list. The time range is about when a task was due. */
export function FilterFields({ filters }: { filters: Filters<DeadLetterFilters> }): ReactNode {
  return (
    <FilterBar filters={filters} search={<SearchFilter filters={filters} name="name" label="Name starts with" />}>
      <SearchFilter filters={filters} name="host" label="Host" isPageSearch={false} />
      <MultiFilter filters={filters} name="error" label="Error" all="All errors" options={errors} />
      <MultiFilter
        filters={filters}
        name="response_status"
        label="Response"
        all="Any status code"
        options={statusCodes}
      />
      <SearchFilter filters={filters} name="topic" label="Exact topic" isPageSearch={false} />
      <SearchFilter filters={filters} name="label" label="Label" isPageSearch={false} />
      <CronJobFilter filters={filters} />
      <RangeFilter filters={filters} />
    </FilterBar>
  )
}

/** Converts the filters to those of the API, for the list and for bulk actions. */
export function toDeadLetterFilter(
  { host, error, response_status, ...values }: Partial<Record<DeadLetterFilters, string[]>>,
  now: Date,
  timeZone: string,
): DeadLetterFilter {
  const query = toLogQuery(values satisfies LogFilterValues, now, timeZone)
  const single = Object.entries(query).map(([name, value]) => [name, String([value].flat()[0])])
  return {
    ...Object.fromEntries(single),
    ...(host ? { host } : {}),
    ...(error ? { error } : {}),
    ...(response_status ? { response_status } : {}),
  }
}
