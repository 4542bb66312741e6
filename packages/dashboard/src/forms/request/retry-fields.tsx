import { optionsOf, SelectField, TextField } from '../../ui/field.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import { Suggestions } from '../../ui/suggestions.tsx'
import { type DraftProps, draftInput } from '../draft-input.ts'
import styles from './request.module.css'
import { type RetryDraft, retryPresets, retryTimes } from './retry-draft.ts'

const backoffs = optionsOf({
  exponential: 'Exponential (×4)',
  linear: 'Linear',
  fixed: 'Fixed',
  custom: 'Custom delays',
})

const maxShown = 6

export function RetryFields({ draft, onChange }: DraftProps<RetryDraft>) {
  const textField = (label: string, name: string, key: keyof RetryDraft, hint?: string) => (
    <TextField
      label={label}
      hint={hint}
      name={name}
      inputMode={key === 'maxRetries' ? 'numeric' : 'decimal'}
      {...draftInput(draft, key, onChange)}
    />
  )
  const isCustom = draft.backoff === 'custom'
  return (
    <>
      <div className={styles.numbers}>
        {isCustom
          ? textField('Delays (s)', 'retry.delays_ms', 'delaysSeconds', 'One per retry, separated by commas.')
          : textField('Retries', 'retry.max_retries', 'maxRetries')}
        <SelectField
          label="Backoff"
          name="retry.backoff"
          {...draftInput(draft, 'backoff', onChange)}
          options={backoffs}
        />
        {!isCustom && textField('Initial delay (s)', 'retry.base_delay_ms', 'baseDelaySeconds')}
        {!isCustom && textField('Max delay (s)', 'retry.max_delay_ms', 'maxDelaySeconds')}
        {textField('Timeout (s)', 'timeout_ms', 'timeoutSeconds')}
      </div>
      <Suggestions label="Common policies" choices={retryPresets} onChoose={onChange} />
      <RetryPreview times={retryTimes(draft)} isExact={isCustom} />
    </>
  )
}

/** Returns the retries and the timeout in one line. */
export function retrySummary(draft: RetryDraft): string {
  const times = retryTimes(draft)
  const last = times.at(-1)
  const retries = last === undefined ? 'No retries' : `${times.length} retries over ${formatDuration(last)}`
  return `${retries}, ${draft.timeoutSeconds} s timeout`
}

function RetryPreview({ times, isExact }: { times: readonly number[]; isExact: boolean }) {
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
      <p className={styles.faint}>
        {isExact ? 'The delays are exact.' : 'Each delay varies by ±10%.'} After the last retry, the task is dead.
      </p>
    </div>
  )
}
