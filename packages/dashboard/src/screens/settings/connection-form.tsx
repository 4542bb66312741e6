import type { Connection } from '@belfry/contract/connection'
import { type ReactNode, useState } from 'react'
import { type ConnectionBody, putConnection } from '../../api/connections.ts'
import { Form } from '../../forms/form.tsx'
import { type FieldErrors, useForm } from '../../forms/use-form.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Field, optionsOf, Select, Textarea, TextInput } from '../../ui/field.tsx'

type Kind = Connection['kind']

export const kindNames: Record<Kind, string> = {
  header: 'Header',
  basic: 'Basic',
  oauth2: 'OAuth 2 client credentials',
  identity_token: 'Identity token',
  tls: 'Certificates only',
}

const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

type FormField = {
  name: string
  label: string
  hint?: string
  isSecret?: boolean
  isLong?: boolean
  isOptional?: boolean
  initial?: string
}

const fieldsOf: Record<Kind, readonly FormField[]> = {
  header: [
    { name: 'header', label: 'Header', initial: 'Authorization' },
    { name: 'value', label: 'Value', isSecret: true },
  ],
  basic: [
    { name: 'username', label: 'User name' },
    { name: 'password', label: 'Password', isSecret: true },
  ],
  oauth2: [
    { name: 'token_url', label: 'Token URL' },
    { name: 'client_id', label: 'Client ID' },
    { name: 'client_secret', label: 'Client secret', isSecret: true },
    { name: 'scope', label: 'Scope', isOptional: true },
  ],
  identity_token: [
    { name: 'audience', label: 'Audience', hint: 'The target accepts tokens for this audience.' },
    { name: 'lifetime_s', label: 'Lifetime (s)', initial: '300' },
  ],
  tls: [],
}

const certificateFields: readonly FormField[] = [
  { name: 'client_certificate', label: 'Client certificate (PEM)', isLong: true, isOptional: true },
  { name: 'client_key', label: 'Private key (PEM)', isLong: true, isSecret: true, isOptional: true },
  {
    name: 'ca_certificate',
    label: 'Certificate authority (PEM)',
    hint: 'Trusted in addition to the public authorities.',
    isLong: true,
    isOptional: true,
  },
]

type ConnectionFormProps = {
  /** The connection to edit; null creates one. */
  connection: Connection | null
  onDone(): void
}

export function ConnectionForm({ connection, onDone }: ConnectionFormProps): ReactNode {
  const { workspace } = useWorkspace()
  const [kind, setKind] = useState<Kind>(connection?.kind ?? 'header')
  const [authentication, setAuthentication] = useState(connection?.client_authentication ?? 'basic')
  const fields = [...fieldsOf[kind], ...certificateFields]
  const form = useForm({
    read: field => ({
      name: connection?.name ?? field('name').trim(),
      hosts: field('hosts')
        .split(/[\s,]+/)
        .filter(Boolean),
      values: Object.fromEntries(fields.map(({ name }) => [name, field(name).trim()])),
    }),
    check({ name, hosts }): FieldErrors {
      return {
        ...(nameForm.test(name) ? {} : { name: 'Use letters, digits and . _ -, starting with a letter or a digit.' }),
        ...(hosts.length === 0 ? { hosts: 'Enter at least one host.' } : {}),
      }
    },
    submit: ({ name, hosts, values }) => putConnection(workspace.id, name, bodyOf(hosts, values)),
    onDone,
    done: ({ name }) => (connection ? `${name} updated` : `${name} created`),
    affects: [['connections', workspace.id]],
  })

  function bodyOf(hosts: string[], values: Record<string, string>): ConnectionBody {
    const given = Object.entries(values).filter(([, value]) => value !== '')
    return {
      kind,
      hosts,
      ...Object.fromEntries(given),
      ...(kind === 'identity_token' ? { lifetime_s: Number(values.lifetime_s) } : {}),
      // The form has no field for further parameters, and keeps them.
      ...(kind === 'oauth2' ? { client_authentication: authentication, parameters: connection?.parameters ?? {} } : {}),
    }
  }

  return (
    <Form
      form={form}
      action={connection ? 'Save' : 'Create connection'}
      more={<Button onClick={onDone}>Cancel</Button>}
    >
      {!connection && (
        <Field label="Name" hint="Such as billing-api." error={form.errors.name}>
          <TextInput name="name" isMono autoComplete="off" spellCheck={false} />
        </Field>
      )}
      <Field label="Kind">
        <Select
          name="kind"
          value={kind}
          onChange={event => setKind(event.target.value as Kind)} // one of the options
          options={optionsOf(kindNames)}
        />
      </Field>
      <Field
        label="Hosts"
        hint="Separated by spaces, such as api.example.com or *.example.com. Other hosts never receive the credentials."
        error={form.errors.hosts}
      >
        <TextInput name="hosts" isMono defaultValue={connection?.hosts.join(' ')} autoComplete="off" />
      </Field>
      {fieldsOf[kind].map(field => (
        <ConnectionInput key={field.name} field={field} stored={connection} errors={form.errors} />
      ))}
      {kind === 'oauth2' && (
        <Field label="Client authentication">
          <Select
            name="client_authentication"
            value={authentication}
            onChange={event => setAuthentication(event.target.value === 'post' ? 'post' : 'basic')}
            options={optionsOf({ basic: 'HTTP Basic', post: 'Parameters in the body' })}
          />
        </Field>
      )}
      <details open={kind === 'tls' || connection?.ca_certificate || connection?.client_certificate ? true : undefined}>
        <summary>Certificates</summary>
        {certificateFields.map(field => (
          <ConnectionInput key={field.name} field={field} stored={connection} errors={form.errors} />
        ))}
      </details>
    </Form>
  )
}

type ConnectionInputProps = { field: FormField; stored: Connection | null; errors: FieldErrors }

function ConnectionInput({ field, stored, errors }: ConnectionInputProps): ReactNode {
  const { name, label, hint, isSecret = false, isLong = false, isOptional = false, initial = '' } = field
  const secretHint = stored ? 'Leave empty to keep the stored one.' : 'It is never shown again.'
  const before = isSecret ? '' : (stored?.[name as keyof Connection] ?? initial)
  const props = { name, defaultValue: String(before), isMono: true, autoComplete: 'off', spellCheck: false }
  return (
    <Field label={label} isOptional={isOptional} error={errors[name]} hint={isSecret ? secretHint : hint}>
      {isLong || isSecret ? <Textarea {...props} rows={isLong ? 3 : 2} /> : <TextInput {...props} />}
    </Field>
  )
}
