import { type ReactNode, useId } from 'react'
import { TextInput } from './field.tsx'
import { fromLocalInput, toLocalInput } from './format-time.ts'
import styles from './layout.module.css'
import type { Filters } from './use-filters.ts'

type TimeFilterProps<Name extends string> = { filters: Filters<Name>; name: Name; label: string }

/** One end of a time range: in local time on the page, as an instant in the URL. */
export function TimeFilter<Name extends string>({ filters, name, label }: TimeFilterProps<Name>): ReactNode {
  const id = useId()
  return (
    <div className={styles.timeFilter}>
      <label htmlFor={id}>{label}</label>
      <TextInput
        id={id}
        type="datetime-local"
        value={toLocalInput(filters.first(name)).slice(0, 16)}
        onChange={event => filters.set(name, fromLocalInput(event.target.value))}
      />
    </div>
  )
}
