import type { ReactNode } from 'react'
import { Field, TextInput } from '../../ui/field.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import { BackoffSelect } from './backoff-select.tsx'
import styles from './request.module.css'
import type { RequestFieldsProps } from './request-fields.tsx'
import { retryTimes } from './retry-times.ts'

const shown = 6

/** How long an attempt may take, and how a failed one is tried again. */
export function RetryFields({ draft, onChange, errors }: RequestFieldsProps): ReactNode {
  return (
    <>
      <div className={styles.numbers}>
        <Field label="Retries" error={errors['retry.max_retries']}>
          <TextInput
            name="retry.max_retries"
            inputMode="numeric"
            value={draft.maxRetries}
            onChange={event => onChange({ maxRetries: event.target.value })}
          />
        </Field>
        <Field label="Delay grows">
          <BackoffSelect value={draft.backoff} onChange={event => onChange({ backoff: event.target.value })} />
        </Field>
        <Field label="First delay (s)" error={errors['retry.base_delay_ms']}>
          <TextInput
            name="retry.base_delay_ms"
            inputMode="decimal"
            value={draft.baseDelaySeconds}
            onChange={event => onChange({ baseDelaySeconds: event.target.value })}
          />
        </Field>
        <Field label="Longest delay (s)" error={errors['retry.max_delay_ms']}>
          <TextInput
            name="retry.max_delay_ms"
            inputMode="decimal"
            value={draft.maxDelaySeconds}
            onChange={event => onChange({ maxDelaySeconds: event.target.value })}
          />
        </Field>
        <Field label="Timeout (s)" error={errors.timeout_ms}>
          <TextInput
            name="timeout_ms"
            inputMode="decimal"
            value={draft.timeoutSeconds}
            onChange={event => onChange({ timeoutSeconds: event.target.value })}
          />
        </Field>
      </div>
      <RetryPreview times={retryTimes(draft)} />
    </>
  )
}

function RetryPreview({ times }: { times: readonly number[] }): ReactNode {
  const last = times.at(-1)
  if (last === undefined) return <p className={styles.faint}>One attempt. If it fails, the task is dead at once.</p>
  return (
    <div>
      <p className={styles.faint}>Were every attempt to fail at once, the retries would start</p>
      <ol className={styles.times} aria-label="Times of the retries">
        {times.slice(0, shown).map((at, index) => (
          <li key={index}>{formatDuration(at)}</li>
        ))}
        {times.length > shown && <li>… {formatDuration(last)}</li>}
      </ol>
      <p className={styles.faint}>after the first one, each delay 10 % more or less. Then the task is dead.</p>
    </div>
  )
}
