import type { ReactNode } from 'react'
import { Field, Select, TextInput } from '../../ui/field.tsx'
import type { FieldErrors } from '../use-form.ts'
import { ConnectionField } from './connection-field.tsx'
import { QueueField } from './flow-fields.tsx'
import { HeaderEditor } from './header-editor.tsx'
import { MissingSecrets, SecretOptions } from './missing-secrets.tsx'
import { PayloadEditor } from './payload-editor.tsx'
import styles from './request.module.css'
import type { RequestDraft } from './request-draft.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export type RequestFieldsProps = {
  draft: RequestDraft
  onChange(change: Partial<RequestDraft>): void
  errors: FieldErrors
}

/** Fields for the method, target URL, headers, payload, connection and queue. */
export function RequestFields({ draft, onChange, errors }: RequestFieldsProps): ReactNode {
  return (
    <>
      <div className={styles.target}>
        <Field label="Method">
          <Select
            name="method"
            value={draft.method}
            onChange={event => onChange({ method: event.target.value })}
            options={methods}
          />
        </Field>
        <Field
          label="Target URL"
          error={errors.url}
          hint={
            <>
              <code>{'{{ secrets.NAME }}'}</code> inserts a secret into the URL, a header or a string of the payload.
            </>
          }
        >
          <TextInput
            name="url"
            type="url"
            isMono
            value={draft.url}
            onChange={event => onChange({ url: event.target.value })}
            placeholder="https://example.com/hooks/reminder"
            autoComplete="off"
            list="secrets"
          />
        </Field>
      </div>
      <SecretOptions />
      <HeaderEditor rows={draft.headers} onChange={headers => onChange({ headers })} error={errors.headers} />
      <PayloadEditor
        text={draft.payload}
        rawBody={draft.rawBody}
        onChange={payload => onChange({ payload })}
        error={errors.payload}
      />
      <MissingSecrets draft={draft} />
      <ConnectionField
        value={draft.connection}
        error={errors.connection}
        onChange={connection => onChange({ connection })}
      />
      <QueueField draft={draft} errors={errors} onChange={onChange} />
    </>
  )
}
