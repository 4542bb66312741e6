import type { ComponentProps, ReactNode } from 'react'
import { Field, Select, TextInput } from '../../ui/field.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import styles from './request.module.css'
import { retryTimes } from './request-draft.ts'
import type { RequestFieldsProps } from './request-fields.tsx'

const maxShown = 6

/** Fields for the retries and the timeout of a request. */
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
        <Field label="Backoff">
          <BackoffSelect value={draft.backoff} onChange={event => onChange({ backoff: event.target.value })} />
        </Field>
        <Field label="Initial delay (s)" error={errors['retry.base_delay_ms']}>
          <TextInput
            name="retry.base_delay_ms"
            inputMode="decimal"
            value={draft.baseDelaySeconds}
            onChange={event => onChange({ baseDelaySeconds: event.target.value })}
          />
        </Field>
        <Field label="Max delay (s)" error={errors['retry.max_delay_ms']}>
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

/** Selects how the delays between attempts grow. */
export function BackoffSelect(props: ComponentProps<typeof Select>): ReactNode {
  return (
    <Select name="retry.backoff" {...props}>
      <option value="exponential">Exponential (×4)</option>
      <option value="linear">Linear</option>
      <option value="fixed">Fixed</option>
    </Select>
  )
}

function RetryPreview({ times }: { times: readonly number[] }): ReactNode {
  const last = times.at(-1)
  if (last === undefined) return <p className={styles.faint}>No retries. If the attempt fails, the task is dead.</p>
  return (
    <div>
      <p className={styles.faint}>
        Retry schedule, measured from the first attempt, if every attempt fails immediately:
      </p>
      <ol className={styles.times} aria-label="Retry schedule">
        {times.slice(0, maxShown).map((at, index) => (
          <li key={index}>{formatDuration(at)}</li>
        ))}
        {times.length > maxShown && <li>… {formatDuration(last)}</li>}
      </ol>
      <p className={styles.faint}>Each delay varies by ±10%. After the last retry, the task is dead.</p>
    </div>
  )
}
