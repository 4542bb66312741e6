import { type ReactNode, useDeferredValue, useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, Textarea } from '../../ui/field.tsx'
import { byteLength, checkPayload } from './check-request.ts'
import { checkJson, indentJson } from './json-text.ts'
import styles from './request.module.css'
import type { RawBody } from './request-draft.ts'

// A change of a long payload reaches the form, which validates and shows it, once the user rests.
const longText = 20_000
const restMs = 250

type PayloadEditorProps = {
  text: string
  /** Sent while the text is empty. */
  rawBody: RawBody | null
  onChange(text: string): void
  error?: string | undefined
}

/** Edits JSON and validates it while the user types. */
export function PayloadEditor({ text, rawBody, onChange, error }: PayloadEditorProps): ReactNode {
  const [initial] = useState(text)
  const field = useRef<HTMLTextAreaElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const apply = () => {
    clearTimeout(timer.current)
    timer.current = undefined
    if (field.current && field.current.value !== text) onChange(field.current.value)
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
      <Field
        label="Payload"
        isOptional
        error={error}
        hint={
          rawBody
            ? `Sends the raw body, ${atob(rawBody.payload_base64).length.toLocaleString('en-GB')} bytes of ${rawBody.content_type}, unless you enter a payload.`
            : 'Any JSON value of up to 256 KiB. Sent as application/json unless you set a Content-Type header.'
        }
      >
        <Textarea
          name="payload"
          isMono
          rows={7}
          spellCheck={false}
          autoComplete="off"
          ref={field}
          defaultValue={initial}
          onChange={event => {
            clearTimeout(timer.current)
            const isLong = event.target.textLength > longText
            timer.current = isLong ? setTimeout(() => latestApply.current(), restMs) : undefined
            if (!isLong) apply()
          }}
          onBlur={apply}
          placeholder={'{\n  "user": 42\n}'}
        />
      </Field>
      <div className={styles.tools}>
        <Button
          size="small"
          refusal={isEmpty ? 'There is nothing to format yet.' : isJson ? null : 'Only valid JSON can be formatted.'}
          onClick={() => onChange(indentJson(text) ?? text)}
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
