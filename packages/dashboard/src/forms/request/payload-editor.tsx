import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, Textarea } from '../../ui/field.tsx'
import { indentJson } from './indent-json.ts'
import { checkJson } from './json-text.ts'
import styles from './request.module.css'

type PayloadEditorProps = { text: string; onChange(text: string): void; error?: string | undefined }

/** JSON as text, judged while it is typed. */
export function PayloadEditor({ text, onChange, error }: PayloadEditorProps): ReactNode {
  const isEmpty = text.trim() === ''
  const isJson = !isEmpty && checkJson(text) === null
  return (
    <div className={styles.payload}>
      <Field
        label="Payload"
        isOptional
        error={error}
        hint="Any JSON value. It is sent as application/json, unless a Content-Type header says otherwise."
      >
        <Textarea
          name="payload"
          isMono
          rows={7}
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={event => onChange(event.target.value)}
          placeholder={'{\n  "user": 42\n}'}
        />
      </Field>
      <div className={styles.tools}>
        <Button
          size="small"
          refusal={isEmpty ? 'There is nothing to format yet.' : isJson ? null : 'Only what is JSON can be formatted.'}
          onClick={() => onChange(indentJson(text) ?? text)}
        >
          Format
        </Button>
        <span className={styles.faint}>
          {isEmpty ? 'No body' : isJson ? 'Valid JSON' : 'Not JSON yet'}
          {!isEmpty && `, ${new Blob([text]).size.toLocaleString('en-GB')} bytes`}
        </span>
      </div>
    </div>
  )
}
