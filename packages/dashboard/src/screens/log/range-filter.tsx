import { useMemo } from 'react'
import { optionsOf, Select } from '../../ui/field.tsx'
import type { Filters } from '../../ui/filter-bar.tsx'
import { latePart } from '../../ui/late-part.tsx'
import { useDisplayZone } from '../../ui/time-style.ts'
import { customRange, ranges } from './log-filters.ts'

/** Ranges of the calendar, in the zone in which times are shown. */
const dayRanges = optionsOf({ today: 'Today', yesterday: 'Yesterday', night: 'Last night, 02:00 to 04:00' })

type RangeFilters = Pick<Filters<'range' | 'from' | 'to'>, 'first' | 'set' | 'setAll'>

/** A time range: a preset that ends now, or a custom one in local time. */
export function RangeFilter({ filters: { first, set, setAll } }: { filters: RangeFilters }) {
  const isCustom = first('range') === customRange || first('from') !== '' || first('to') !== ''
  const choose = (value: string) =>
    setAll([
      ['range', value],
      ['from', ''],
      ['to', ''],
    ])
  return (
    <>
      <Select
        aria-label="Time"
        value={isCustom ? customRange : first('range')}
        onChange={event => choose(event.target.value)}
        options={[
          { value: '', label: 'Any time' },
          ...ranges,
          ...dayRanges,
          { value: customRange, label: 'Custom range' },
        ]}
      />
      {isCustom && (
        <>
          <TimeFilter label="From" at={first('from')} onChange={at => set('from', at)} />
          <TimeFilter label="Before" at={first('to')} onChange={at => set('to', at)} />
        </>
      )}
    </>
  )
}

/** Returns the query for filters. A preset range ends when the filters were set. */
export function useRangeQuery<Values, Query>(
  values: Values,
  toQuery: (values: Values, now: Date, timeZone: string) => Query,
): Query {
  const key = JSON.stringify(values)
  const zone = useDisplayZone()
  return useMemo(() => toQuery(JSON.parse(key), new Date(), zone), [key, zone, toQuery])
}

// Only a custom range needs it.
const TimeFilter = latePart(async () => (await import('../../forms/when/time-filter.tsx')).TimeFilter)
