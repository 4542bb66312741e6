import { type ReactNode, useMemo } from 'react'
import type { FieldErrors } from '../../forms/use-form.ts'
import { WhenField } from '../../forms/when/when-field.tsx'
import { allZones } from '../../forms/when/zoned-time.ts'
import { Button } from '../../ui/button.tsx'
import { Field, optionsOf, Select, TextInput } from '../../ui/field.tsx'
import { viewerZone } from '../../ui/format-time.ts'
import type { CronJobDraft } from './cron-job-draft.ts'
import styles from './cron-jobs.module.css'

const presets = [
  ['Every 5 minutes', '*/5 * * * *'],
  ['Every hour', '0 * * * *'],
  ['Every day at 9:00', '0 9 * * *'],
  ['Weekdays at 9:00', '0 9 * * 1-5'],
  ['Mondays at 9:00', '0 9 * * 1'],
  ['First of the month', '0 0 1 * *'],
] as const

type ScheduleFieldsProps = {
  draft: CronJobDraft
  onChange(change: Partial<CronJobDraft>): void
  errors: FieldErrors
}

/** Fields for the cron expression and its time zone. */
export function ScheduleFields({ draft, onChange, errors }: ScheduleFieldsProps): ReactNode {
  const zones = useMemo(() => allZones(viewerZone()), [])
  return (
    <>
      <div className={styles.expression}>
        <Field label="Cron expression" error={errors.cron} hint="Minute, hour, day of month, month, day of week.">
          <TextInput
            name="cron"
            isMono
            value={draft.cron}
            onChange={event => onChange({ cron: event.target.value })}
            placeholder="0 9 * * 1-5"
            autoComplete="off"
            spellCheck={false}
          />
        </Field>
        <Field label="Time zone" error={errors.timezone}>
          <Select
            name="timezone"
            value={draft.timezone}
            onChange={event => onChange({ timezone: event.target.value })}
            options={zones.includes(draft.timezone) ? zones : [draft.timezone, ...zones]}
          />
        </Field>
      </div>
      <div className={styles.presets}>
        {presets.map(([label, cron]) => (
          <Button key={cron} size="small" onClick={() => onChange({ cron })}>
            {label}
          </Button>
        ))}
      </div>
    </>
  )
}

/** Fields for overlap, missed runs, start and end. */
export function OccurrenceFields({ draft, onChange, errors }: ScheduleFieldsProps): ReactNode {
  return (
    <>
      <div className={styles.pair}>
        <Field label="If the previous run has not finished">
          <Select
            name="overlap"
            value={draft.overlap}
            onChange={event => onChange({ overlap: event.target.value })}
            options={optionsOf({ allow: 'Start anyway', skip: 'Skip the occurrence' })}
          />
        </Field>
        <Field label="Missed runs">
          <Select
            name="catch_up"
            value={draft.catchUp}
            onChange={event => onChange({ catchUp: event.target.value })}
            options={optionsOf({ latest: 'Run the latest', all: 'Run all, up to 100', none: 'Skip them' })}
          />
        </Field>
      </div>
      <WhenField
        label="Starts"
        name="starts_at"
        isOptional
        value={draft.startsAt}
        onChange={startsAt => onChange({ startsAt })}
        error={errors.starts_at}
      />
      <WhenField
        label="Ends"
        name="ends_at"
        isOptional
        value={draft.endsAt}
        onChange={endsAt => onChange({ endsAt })}
        error={errors.ends_at}
      />
    </>
  )
}
