import { CircleAlert, Plus, Trash2 } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { Button, IconButton } from '../../ui/button.tsx'
import { TextInput } from '../../ui/field.tsx'
import styles from './request.module.css'
import type { HeaderRow } from './request-draft.ts'

type HeaderEditorProps = {
  rows: readonly HeaderRow[]
  onChange(rows: readonly HeaderRow[]): void
  error?: string | undefined
}

/** Edits headers, one per row. */
export function HeaderEditor({ rows, onChange, error }: HeaderEditorProps): ReactNode {
  const id = useId()
  const set = (id: number, change: Partial<HeaderRow>) =>
    onChange(rows.map(row => (row.id === id ? { ...row, ...change } : row)))
  const add = () => onChange([...rows, { id: Math.max(-1, ...rows.map(row => row.id)) + 1, name: '', value: '' }])
  return (
    <fieldset className={styles.group} aria-describedby={error ? `${id}-error` : undefined}>
      <legend>
        Headers <span className={styles.faint}>(optional)</span>
      </legend>
      {rows.map((row, index) => (
        <div key={row.id} className={styles.header}>
          <TextInput
            name="headers"
            aria-label={`Header ${index + 1} name`}
            aria-invalid={error ? true : undefined}
            isMono
            placeholder="X-Tenant"
            value={row.name}
            onChange={event => set(row.id, { name: event.target.value })}
            autoComplete="off"
          />
          <TextInput
            name="headers"
            aria-label={`Header ${index + 1} value`}
            aria-invalid={error ? true : undefined}
            isMono
            placeholder="{{ secrets.TENANT }}"
            value={row.value}
            onChange={event => set(row.id, { value: event.target.value })}
            autoComplete="off"
          />
          <IconButton
            label={`Remove header ${row.name || index + 1}`}
            icon={<Trash2 size={15} />}
            onClick={() => onChange(rows.filter(({ id }) => id !== row.id))}
          />
        </div>
      ))}
      <div>
        <Button size="small" icon={<Plus size={14} />} onClick={add}>
          Add header
        </Button>
      </div>
      {error && (
        <div id={`${id}-error`} className={styles.error}>
          <CircleAlert size={14} aria-hidden="true" />
          {error}
        </div>
      )}
    </fieldset>
  )
}
