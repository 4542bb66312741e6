import type { ApiKey, NewApiKey } from '@belfry/contract/api-key'
import type { ReactNode } from 'react'
import { rollApiKey } from '../../api/api-keys.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Select } from '../../ui/field.tsx'

const hourMs = 3_600_000

const overlaps = [
  { value: hourMs, label: 'For 1 hour' },
  { value: 24 * hourMs, label: 'For 24 hours' },
  { value: 7 * 24 * hourMs, label: 'For 7 days' },
  { value: 0, label: 'Not at all: revoke it now' },
]

type RollKeyFormProps = { apiKey: ApiKey; onCancel(): void; onRolled(key: NewApiKey): void }

/** Replaces an API key by a new one. */
export function RollKeyForm({ apiKey, onCancel, onRolled }: RollKeyFormProps): ReactNode {
  const { workspace } = useWorkspace()
  const form = useForm({
    read: field => ({ overlap_ms: Number(field('overlap_ms')) }),
    submit: body => rollApiKey(workspace.id, apiKey.id, body),
    onDone: onRolled,
    affects: [['api-keys', workspace.id]],
  })
  return (
    <Form form={form} action="Roll key" more={<Button onClick={onCancel}>Cancel</Button>}>
      <Field
        label="Keep the previous key"
        hint="Put the new key into your applications within this time."
        error={form.errors.overlap_ms}
      >
        <Select name="overlap_ms" defaultValue={24 * hourMs} options={overlaps} />
      </Field>
    </Form>
  )
}
