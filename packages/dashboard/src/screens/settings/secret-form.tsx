import type { Secret } from '@belfry/contract/secret'
import type { ReactNode } from 'react'
import { putSecret } from '../../api/secrets.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Textarea, TextInput } from '../../ui/field.tsx'

const namePattern = /^[A-Z][A-Z0-9_]{0,63}$/

type SecretFormProps = {
  /** The secret to replace; null creates one. */
  secret: Secret | null
  onDone(): void
}

export function SecretForm({ secret, onDone }: SecretFormProps): ReactNode {
  const { workspace } = useWorkspace()
  const form = useForm({
    read: field => ({ name: secret?.name ?? field('name').trim(), value: field('value'), hosts: field('hosts') }),
    check: ({ name, value }) => ({
      ...(namePattern.test(name)
        ? {}
        : { name: 'Use capital letters, digits and underscores, starting with a letter.' }),
      ...(value === '' ? { value: 'Enter a value.' } : {}),
    }),
    submit({ name, value, hosts }) {
      const allowed = hosts.split(/[\s,]+/).filter(Boolean)
      return putSecret(workspace.id, name, { value, allowed_hosts: allowed.length === 0 ? null : allowed })
    },
    onDone,
    done: ({ name }) => (secret ? `${name} updated` : `${name} created`),
    affects: [['secrets', workspace.id]],
  })
  return (
    <Form
      form={form}
      action={secret ? 'Replace value' : 'Create secret'}
      more={<Button onClick={onDone}>Cancel</Button>}
    >
      {!secret && (
        <Field
          label="Name"
          hint="Such as API_TOKEN. An existing secret with this name is replaced."
          error={form.errors.name}
        >
          <TextInput name="name" isMono autoComplete="off" autoCapitalize="characters" spellCheck={false} />
        </Field>
      )}
      <Field label="Value" hint="At least four characters. It is never shown again." error={form.errors.value}>
        <Textarea name="value" isMono rows={3} autoComplete="off" spellCheck={false} />
      </Field>
      <Field
        label="Allowed hosts"
        hint="Separated by spaces, such as api.example.com or *.example.com. Empty: the secret can be sent to every host."
        error={form.errors.allowed_hosts}
      >
        <TextInput
          name="hosts"
          isMono
          defaultValue={secret?.allowed_hosts?.join(' ') ?? ''}
          autoComplete="off"
          spellCheck={false}
        />
      </Field>
    </Form>
  )
}
