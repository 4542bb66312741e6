import { Plus, Trash2 } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { Button, IconButton } from '../../ui/button.tsx'
import { FieldError, TextInput } from '../../ui/field.tsx'
import styles from './request.module.css'
import type { HeaderRow } from './request-draft.ts'

const placeholders = { name: 'X-Tenant', value: '{{ secrets.TENANT }}' }

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
              autoComplete="off"
              list={field === 'value' ? 'secrets' : undefined}
            />
          ))}
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
      <FieldError id={`${id}-error`} error={error} />
    </fieldset>
  )
}
