import type { NewApiKey } from '@belfry/contract'
import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { createApiKey } from '../../api/api-keys.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Select, TextInput } from '../../ui/field.tsx'

const lifetimes = [
  { days: '', label: 'Never' },
  { days: '7', label: 'In 7 days' },
  { days: '30', label: 'In 30 days' },
  { days: '90', label: 'In 90 days' },
  { days: '365', label: 'In 1 year' },
]

type NewKeyFormProps = { onCancel(): void; onCreated(key: NewApiKey): void }

export function NewKeyForm({ onCancel, onCreated }: NewKeyFormProps): ReactNode {
  const { workspace } = useWorkspace()
  const client = useQueryClient()
  const form = useForm({
    read: field => ({ name: field('name').trim(), expires_at: inDays(field('expires_at')) }),
    check: body => ({ ...(body.name === '' ? { name: 'Enter a name.' } : {}) }),
    submit: body => createApiKey(workspace.id, body),
    async onDone(key) {
      onCreated(key)
      await client.invalidateQueries({ queryKey: ['api-keys', workspace.id] })
    },
  })
  return (
    <Form form={form} action="Create key" more={<Button onClick={onCancel}>Cancel</Button>}>
      <Field label="Name" hint="Where the key is used, such as “Billing server”." error={form.errors.name}>
        <TextInput name="name" autoComplete="off" />
      </Field>
      <Field label="Expires" error={form.errors.expires_at}>
        <Select name="expires_at">
          {lifetimes.map(({ days, label }) => (
            <option key={days} value={days}>
              {label}
            </option>
          ))}
        </Select>
      </Field>
    </Form>
  )
}

function inDays(days: string): string | null {
  return days === '' ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString()
}
