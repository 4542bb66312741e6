import type { ReactNode } from 'react'
import { TextField } from '../../ui/field.tsx'
import styles from './request.module.css'
import { type CallbackDrafts, callbackEvents } from './request-draft.ts'

const labels = { on_success: 'On success', on_failure: 'On failure', on_attempt: 'After each run' }

type CallbackFieldsProps = {
  draft: { callbacks: CallbackDrafts }
  onChange(change: { callbacks: CallbackDrafts }): void
}

/** Fields for the URLs that receive the outcome of a task. */
export function CallbackFields({ draft, onChange }: CallbackFieldsProps): ReactNode {
  return (
    <>
      <p className={styles.faint}>Belfry sends the result to these URLs.</p>
      {callbackEvents.map(event => (
        <TextField
          key={event}
          label={labels[event]}
          isOptional
          name={`${event}.url`}
          type="url"
          isMono
          value={draft.callbacks[event].url}
          onChange={({ target }) => {
            const changed = { ...draft.callbacks[event], url: target.value }
            onChange({ callbacks: { ...draft.callbacks, [event]: changed } })
          }}
          placeholder="https://example.com/hooks/done"
          autoComplete="off"
          list="secrets"
        />
      ))}
    </>
  )
}
