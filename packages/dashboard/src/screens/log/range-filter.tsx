import type { ReactNode } from 'react'
import { useSearchParams } from 'react-router'
import { Select, TextInput } from '../../ui/field.tsx'
import { fromLocalInput, toLocalInput } from '../../ui/format-time.ts'
import type { Filters } from '../../ui/use-filters.ts'
import styles from './log.module.css'
import { customRange, ranges } from './log-filters.ts'

type RangeFilters = Pick<Filters<'range' | 'from' | 'to'>, 'first' | 'set'>

/** A time range: a preset that ends now, or a custom one in local time. */
export function RangeFilter({ filters: { first, set } }: { filters: RangeFilters }): ReactNode {
  const [, setParams] = useSearchParams()
  const isCustom = first('range') === customRange || first('from') !== '' || first('to') !== ''
  const choose = (value: string) =>
    setParams(before => {
      const next = new URLSearchParams(before)
      for (const name of ['range', 'from', 'to']) next.delete(name)
      if (value !== '') next.set('range', value)
      return next
    })
  return (
    <>
      <Select
        aria-label="Time"
        value={isCustom ? customRange : first('range')}
        onChange={event => choose(event.target.value)}
      >
        <option value="">Any time</option>
        {ranges.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
        <option value={customRange}>Custom range</option>
      </Select>
      {isCustom && (
        <>
          <TimeInput label="From" at={first('from')} onChange={at => set('from', at)} />
          <TimeInput label="To (exclusive)" at={first('to')} onChange={at => set('to', at)} />
        </>
      )}
    </>
  )
}

function TimeInput({ label, at, onChange }: { label: string; at: string; onChange(at: string): void }): ReactNode {
  return (
    <TextInput
      className={styles.moment}
      type="datetime-local"
      step="1"
      aria-label={label}
      title={label}
      key={at}
      defaultValue={toLocalInput(at)}
      onBlur={event => {
        const text = event.target.value
        if (text !== toLocalInput(at)) onChange(fromLocalInput(text))
      }}
      onKeyDown={event => event.key === 'Enter' && event.currentTarget.blur()}
    />
  )
}
