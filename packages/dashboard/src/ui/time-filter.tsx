import { type ReactNode, useId } from 'react'
import { TextInput } from './field.tsx'
import styles from './layout.module.css'
import type { Filters } from './use-filters.ts'

type TimeFilterProps<Name extends string> = { filters: Filters<Name>; name: Name; label: string }

/** A bound of a time range, on the viewer's clocks; an instant in the address. */
export function TimeFilter<Name extends string>({ filters, name, label }: TimeFilterProps<Name>): ReactNode {
  const id = useId()
  const set = (local: string) => {
    const at = new Date(local)
    filters.set(name, Number.isNaN(at.getTime()) ? '' : at.toISOString())
  }
  return (
    <div className={styles.timeFilter}>
      <label htmlFor={id}>{label}</label>
      <TextInput
        id={id}
        type="datetime-local"
        value={localOf(filters.first(name))}
        onChange={event => set(event.target.value)}
      />
    </div>
  )
}

function localOf(instant: string): string {
  const at = new Date(instant)
  if (Number.isNaN(at.getTime())) return ''
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}
