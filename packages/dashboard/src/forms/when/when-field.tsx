import { CalendarDays } from 'lucide-react'
import { useMemo, useRef } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { Field, SelectField, TextField } from '../../ui/field.tsx'
import { formatAbsolute, formatRelative, viewerZone } from '../../ui/format-time.ts'
import { Suggestions } from '../../ui/suggestions.tsx'
import { parseWhen, type When, type WhenDraft } from './parse-when.ts'
import styles from './when-field.module.css'
import { allZones, wallText } from './zoned-time.ts'

type WhenFieldProps = {
  label: string
  /** The name of the field in the API. */
  name: string
  value: WhenDraft
  onChange(value: WhenDraft): void
  isOptional?: boolean
  /** Texts that are offered as buttons. */
  suggestions?: readonly string[]
}

/** A field for a time: as text, with a time zone and a calendar. Shows the parsed time below. */
export function WhenField(props: WhenFieldProps) {
  const { label, name, value, onChange, isOptional, suggestions = [] } = props
  const zones = useMemo(() => allZones(viewerZone(), value.zone), [value.zone])
  const set = (change: Partial<WhenDraft>) => onChange({ ...value, ...change })
  const calendar = useRef<HTMLInputElement>(null)
  const now = new Date()
  const when = parseWhen(value.text, value.zone, now)
  return (
    <div className={styles.when}>
      <div className={styles.row}>
        <TextField
          label={label}
          isOptional={isOptional}
          name={name}
          value={value.text}
          onChange={event => set({ text: event.target.value })}
          placeholder="tomorrow 09:00 or 2026-12-31 18:00"
        />
        <SelectField
          label="Time zone"
          name={`${name}_zone`}
          value={value.zone}
          onChange={event => set({ zone: event.target.value })}
          aria-label={`Time zone of “${label}”`}
          options={zones}
        />
        <Field label="Calendar">
          <div className={styles.calendar}>
            {/* Each of its parts would be a tab stop. The button opens it, and the text field accepts any time. */}
            <input
              ref={calendar}
              type="datetime-local"
              step="1"
              tabIndex={-1}
              aria-label={`Calendar for “${label}”`}
              value={'error' in when ? '' : wallText(when.at, value.zone).replace(' ', 'T')}
              onChange={event => event.target.value && set({ text: event.target.value.replace('T', ' ') })}
            />
            <IconButton
              size="small"
              label={`Open calendar for “${label}”`}
              icon={<CalendarDays size={15} />}
              onClick={() => calendar.current?.showPicker()}
            />
          </div>
        </Field>
      </div>
      {suggestions.length > 0 && (
        <Suggestions
          label={`Suggestions for “${label}”`}
          choices={Object.fromEntries(suggestions.map(text => [text, text]))}
          onChoose={text => set({ text })}
        />
      )}
      <p className={styles.meaning} aria-live="polite">
        {value.text.trim() !== '' && <Meaning when={when} zone={value.zone} now={now} />}
      </p>
    </div>
  )
}

function Meaning({ when, zone, now }: { when: When; zone: string; now: Date }) {
  if ('error' in when) return <em>{when.error}</em>
  const others = [...new Set([viewerZone(), 'UTC'])].filter(other => other !== zone)
  return (
    <>
      <strong>{formatAbsolute(when.at, zone)}</strong> {zone}, {formatRelative(when.at, now)}
      {others.map(other => (
        <span key={other}>
          {' '}
          · {formatAbsolute(when.at, other)} {other}
        </span>
      ))}
      {when.note === 'clock_gap' && <em> Clocks skip this time on that day, so it is the end of the gap.</em>}
      {when.note === 'clock_overlap' && <em> This time occurs twice on that day. The first one is used.</em>}
    </>
  )
}
