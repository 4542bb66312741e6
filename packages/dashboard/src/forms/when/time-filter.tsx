import { useId, useState } from 'react'
import { FieldError, TextInput } from '../../ui/field.tsx'
import styles from '../../ui/layout.module.css'
import { useDisplayZone } from '../../ui/time-style.ts'
import { parseWhen } from './parse-when.ts'
import { wallText } from './zoned-time.ts'

type TimeFilterProps = {
  label: string
  /** An instant; empty when the filter is not set. */
  at: string
  onChange(at: string): void
}

/** One end of a time range: as text in the zone in which times are shown, as an instant in the URL. */
export function TimeFilter({ label, at, onChange }: TimeFilterProps) {
  const id = useId()
  const zone = useDisplayZone()
  const [error, setError] = useState<string | null>(null)
  const shown = at === '' ? '' : wallText(new Date(at), zone)
  const apply = (text: string) => {
    if (text.trim() === shown) return setError(null)
    const when = text.trim() === '' ? null : parseWhen(text, zone, new Date())
    if (when && 'error' in when) return setError(when.error)
    setError(null)
    onChange(when?.at.toISOString() ?? '')
  }
  return (
    <div className={styles.timeFilter}>
      <label htmlFor={id}>{label}</label>
      <TextInput
        id={id}
        key={shown}
        defaultValue={shown}
        placeholder="2026-12-31 18:00"
        title={`In ${zone}`}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? `${id}-error` : undefined}
        onBlur={event => apply(event.target.value)}
        onKeyDown={event => event.key === 'Enter' && apply(event.currentTarget.value)}
      />
      <FieldError id={`${id}-error`} error={error ?? undefined} />
    </div>
  )
}
