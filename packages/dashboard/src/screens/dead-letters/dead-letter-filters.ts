import { type LogFilterValues, toLogQuery } from '../log/log-filters.ts'

/** What the address of the page may name. What the API can settle at once is what the list is filtered by. */
export const deadLetterFilters = ['topic', 'cronjob_id', 'range', 'from', 'to'] as const

export type DeadLetterFilters = (typeof deadLetterFilters)[number]

/** The filter that the list and a bulk action both take. */
export function toDeadLetterFilter(
  values: Partial<Record<DeadLetterFilters, string[]>>,
  now: Date,
): { topic?: string; cronjob_id?: string; from?: string; to?: string } {
  const query = toLogQuery(values satisfies LogFilterValues, now)
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String([value].flat()[0])]))
}
