import type { NewApiKey } from '@belfry/contract/api-key'
import type { ReactNode } from 'react'
import { createApiKey } from '../../api/api-keys.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useOrganization, useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Select, TextInput } from '../../ui/field.tsx'
import { KeyAccessFields, readAccess } from './key-access-fields.tsx'

const lifetimes = [
  { value: 7, label: 'In 7 days' },
  { value: 30, label: 'In 30 days' },
  { value: 90, label: 'In 90 days' },
  { value: 365, label: 'In 1 year' },
]

type NewKeyFormProps = { onCancel(): void; onCreated(key: NewApiKey): void }

export function NewKeyForm({ onCancel, onCreated }: NewKeyFormProps): ReactNode {
  const { workspace } = useWorkspace()
  const { max_api_key_days: maxDays } = useOrganization().organization
  const form = useForm({
    read: field => ({ name: field('name').trim(), ...inDays(field('expires_at')), ...readAccess(field) }),
    check: body => ({
      ...(body.name === '' ? { name: 'Enter a name.' } : {}),
      ...(body.scopes.length === 0 ? { scopes: 'Select at least one right.' } : {}),
    }),
    submit: body => createApiKey(workspace.id, body),
    onDone: onCreated,
    affects: [['api-keys', workspace.id]],
  })
  return (
    <Form form={form} action="Create key" more={<Button onClick={onCancel}>Cancel</Button>}>
      <Field label="Name" hint="Where the key is used, such as “Billing server”." error={form.errors.name}>
        <TextInput name="name" autoComplete="off" />
      </Field>
      <KeyAccessFields errors={form.errors} />
      <Field
        label="Expires"
        hint={maxDays === null ? undefined : `Your organization limits new keys to ${maxDays} days.`}
        error={form.errors.expires_at}
      >
        <Select
          name="expires_at"
          options={[
            { value: '', label: maxDays === null ? 'Never' : `In ${maxDays} days` },
            ...lifetimes.filter(({ value }) => maxDays === null || value < maxDays),
          ]}
        />
      </Field>
    </Form>
  )
}

// Without an end the API takes the latest that the organization allows.
function inDays(days: string): { expires_at?: string } {
  return days === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }
}
