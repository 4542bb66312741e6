import type { ComponentProps, ReactNode } from 'react'
import { Field, Select, TextInput } from '../../ui/field.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import type { FieldErrors } from '../use-form.ts'
import styles from './request.module.css'
import { type RequestDraft, retryTimes } from './request-draft.ts'
import type { RequestFieldsProps } from './request-fields.tsx'

type NumberKey = 'maxRetries' | 'baseDelaySeconds' | 'maxDelaySeconds' | 'timeoutSeconds'

const maxShown = 6

/** Fields for the retries and the timeout of a request. */
export function RetryFields({ draft, onChange, errors }: RequestFieldsProps): ReactNode {
  const numberField = (label: string, name: string, key: NumberKey) => (
    <Field label={label} error={errors[name]}>
      <TextInput
        name={name}
        inputMode={key === 'maxRetries' ? 'numeric' : 'decimal'}
        value={draft[key]}
        onChange={event => onChange({ [key]: event.target.value })}
      />
    </Field>
  )
  return (
    <>
      <div className={styles.numbers}>
        {numberField('Retries', 'retry.max_retries', 'maxRetries')}
        <Field label="Backoff">
          <BackoffSelect value={draft.backoff} onChange={event => onChange({ backoff: event.target.value })} />
        </Field>
        {numberField('Initial delay (s)', 'retry.base_delay_ms', 'baseDelaySeconds')}
        {numberField('Max delay (s)', 'retry.max_delay_ms', 'maxDelaySeconds')}
        {numberField('Timeout (s)', 'timeout_ms', 'timeoutSeconds')}
      </div>
      <RetryPreview times={retryTimes(draft)} />
    </>
  )
}

/** Returns the retries and the timeout in one line. */
export function retrySummary(draft: RequestDraft): string {
  const last = retryTimes(draft).at(-1)
  const retries = last === undefined ? 'No retries' : `${draft.maxRetries} retries over ${formatDuration(last)}`
  return `${retries}, ${draft.timeoutSeconds} s timeout`
}

export function hasRetryError(errors: FieldErrors): boolean {
  return Object.keys(errors).some(name => name === 'timeout_ms' || name.startsWith('retry.'))
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
  if (last === undefined) return <p className={styles.faint}>No retries. If the run fails, the task is dead.</p>
  return (
    <div>
      <p className={styles.faint}>Retry schedule, measured from the first run, if every run fails immediately:</p>
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
