import { Plus, Trash2 } from 'lucide-react'
import { useContext, useDeferredValue, useEffect, useId, useRef, useState } from 'react'
import { Button, IconButton } from '../../ui/button.tsx'
import { FieldError, FieldErrorsContext, SelectField, TextareaField, TextField, TextInput } from '../../ui/field.tsx'
import { type DraftProps, draftInput } from '../draft-input.ts'
import { byteLength, checkPayload } from './check-request.ts'
import { ConnectionField, QueueField, SecretOptions } from './flow-fields.tsx'
import { checkJson, indentJson } from './json-text.ts'
import styles from './request.module.css'
import type { HeaderRow, RequestDraft } from './request-draft.ts'

const methods: ReadonlyArray<RequestDraft['method']> = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export function RequestFields({ draft, onChange }: DraftProps<RequestDraft>) {
  return (
    <>
      <div className={styles.target}>
        <SelectField label="Method" name="method" {...draftInput(draft, 'method', onChange)} options={methods} />
        <TextField
          label="Target URL"
          hint={
            <>
              <code>{'{{ secrets.NAME }}'}</code> inserts a secret into the URL, a header or a string of the payload.
            </>
          }
          name="url"
          type="url"
          isMono
          {...draftInput(draft, 'url', onChange)}
          placeholder="https://example.com/hooks/reminder"
          list="secrets"
        />
      </div>
      <SecretOptions />
      <HeaderEditor draft={draft} onChange={onChange} />
      <PayloadEditor draft={draft} onChange={onChange} />
      <ConnectionField draft={draft} onChange={onChange} />
      <QueueField draft={draft} onChange={onChange} />
    </>
  )
}

const placeholders = { name: 'X-Tenant', value: '{{ secrets.TENANT }}' }

function HeaderEditor({ draft: { headers: rows }, onChange }: DraftProps<RequestDraft>) {
  const { headers: error } = useContext(FieldErrorsContext)
  const id = useId()
  const set = (id: number, change: Partial<HeaderRow>) =>
    onChange({ headers: rows.map(row => (row.id === id ? { ...row, ...change } : row)) })
  const nextId = Math.max(-1, ...rows.map(row => row.id)) + 1
  return (
    <fieldset className={styles.group} aria-describedby={error ? `${id}-error` : undefined}>
      <legend>
        Headers <span className={styles.faint}>(optional)</span>
      </legend>
      {rows.map((row, index) => (
        <div key={row.id} className={styles.header}>
          {(['name', 'value'] as const).map(field => (
            <TextInput
              key={field}
              name="headers"
              aria-label={`Header ${index + 1} ${field}`}
              aria-invalid={error ? true : undefined}
              isMono
              placeholder={placeholders[field]}
              value={row[field]}
              onChange={event => set(row.id, { [field]: event.target.value })}
              list={field === 'value' ? 'secrets' : undefined}
            />
          ))}
          <IconButton
            label={`Remove header ${row.name || index + 1}`}
            icon={<Trash2 size={15} />}
            onClick={() => onChange({ headers: rows.filter(({ id }) => id !== row.id) })}
          />
        </div>
      ))}
      <div>
        <Button
          size="small"
          icon={<Plus size={14} />}
          onClick={() => onChange({ headers: [...rows, { id: nextId, name: '', value: '' }] })}
        >
          Add header
        </Button>
      </div>
      <FieldError id={`${id}-error`} error={error} />
    </fieldset>
  )
}

// A long payload is validated and previewed only once the user stops typing.
const longText = 20_000
const restMs = 250

function PayloadEditor({ draft, onChange }: DraftProps<RequestDraft>) {
  const { payload: text, rawBody } = draft
  const [initial] = useState(text)
  const field = useRef<HTMLTextAreaElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const apply = () => {
    clearTimeout(timer.current)
    timer.current = undefined
    if (field.current && field.current.value !== text) onChange({ payload: field.current.value })
  }
  const latestApply = useRef(apply)
  latestApply.current = apply
  useEffect(() => () => clearTimeout(timer.current), [])
  // React would compare and set a long value with each key.
  useEffect(() => {
    const isTyping = timer.current !== undefined
    if (field.current && !isTyping && field.current.value !== text) field.current.value = text
  }, [text])
  const checked = useDeferredValue(text)
  const isEmpty = checked.trim() === ''
  const isJson = !isEmpty && checkJson(checked) === null
  const limit = isJson ? checkPayload(checked) : null
  return (
    <div className={styles.payload}>
      <TextareaField
        label="Payload"
        isOptional
        hint={
          rawBody
            ? `Sends the raw body, ${atob(rawBody.payload_base64).length.toLocaleString('en-GB')} bytes of ${rawBody.content_type}, unless you enter a payload.`
            : 'Any JSON value of up to 256 KiB. Sent as application/json unless you set a Content-Type header.'
        }
        name="payload"
        isMono
        rows={7}
        ref={field}
        defaultValue={initial}
        onChange={event => {
          clearTimeout(timer.current)
          const isLong = event.target.textLength > longText
          timer.current = isLong ? setTimeout(() => latestApply.current(), restMs) : undefined
          if (!isLong) apply()
        }}
        onBlur={apply}
        // Before the other key of a shortcut that submits the form.
        onKeyDown={({ ctrlKey, metaKey }) => (ctrlKey || metaKey) && apply()}
        placeholder={'{\n  "user": 42\n}'}
      />
      <div className={styles.tools}>
        <Button
          size="small"
          refusal={isEmpty ? 'There is nothing to format yet.' : isJson ? null : 'Only valid JSON can be formatted.'}
          onClick={() => onChange({ payload: indentJson(text) ?? text })}
        >
          Format
        </Button>
        <span className={styles.faint}>
          {isEmpty ? (rawBody ? 'Raw body' : 'No body') : (limit ?? (isJson ? 'Valid JSON' : 'Invalid JSON'))}
          {!isEmpty && ` · ${byteLength(checked).toLocaleString('en-GB')} bytes`}
        </span>
      </div>
    </div>
  )
}
