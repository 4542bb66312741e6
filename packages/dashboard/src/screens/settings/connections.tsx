import type { Connection, ConnectionTest } from '@belfry/contract/connection'
import { useQuery } from '@tanstack/react-query'
import { KeyRound, Play } from 'lucide-react'
import { useState } from 'react'
import { type Body, call, read } from '../../api/call.ts'
import { allOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { refuseTakenName } from '../../forms/refuse-taken-name.ts'
import { DialogButton } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { optionsOf, SelectField, TextareaField, TextField } from '../../ui/field.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './settings.module.css'

export function Connections() {
  const { workspace } = useWorkspace()
  const delay = 'Changes apply to new calls within five seconds.'
  return (
    <ResourceList
      title="Connections"
      description="Credentials Belfry sends so targets know who is calling. Tasks, cron jobs and subscriptions name a connection."
      list={useQuery(allOf('listConnections', { ws: workspace.id }))}
      rowKey={({ name }) => name}
      create={{ label: 'New connection', description: delay, right: 'connection.write' }}
      form={connection => <ConnectionForm connection={connection} />}
      empty={{
        icon: KeyRound,
        title: 'No connections yet',
        children: 'Add a header, a password, OAuth 2 client credentials, an identity token or a client certificate.',
      }}
      columns={[
        { header: 'Name', cell: ({ name }) => <code className={styles.mono}>{name}</code> },
        { header: 'Kind', cell: ({ kind }) => kindNames[kind] },
        { header: 'Hosts', isExtra: true, cell: ({ hosts }) => <code className={styles.mono}>{hosts.join(' ')}</code> },
        { header: 'Updated', isExtra: true, cell: one => <RelativeTime at={one.updated_at} /> },
      ]}
      actions={connection => (
        <DialogButton label={`Test ${connection.name}`} icon={<Play size={16} />} right="connection.test">
          <ConnectionTestForm connection={connection} />
        </DialogButton>
      )}
      nameOf={({ name }) => name}
      edit={{ description: delay, right: 'connection.write' }}
      remove={{
        what: 'connection',
        description: 'Tasks that name it fail. It cannot be deleted while a cron job or a subscription names it.',
        right: 'connection.delete',
        run: ({ name }) => call('deleteConnection', { ws: workspace.id, connection: name }),
      }}
    />
  )
}

function ConnectionTestForm({ connection }: { connection: Connection }) {
  const { workspace } = useWorkspace()
  const [outcome, setOutcome] = useState<ConnectionTest | null>(null)
  const hasToken = connection.kind === 'oauth2' || connection.kind === 'identity_token'
  return (
    <Form
      read={field => ({ url: field('url').trim() })}
      check={({ url }) => ({ url: url === '' && !hasToken && 'Enter a URL of one of its hosts.' })}
      submit={({ url }) => {
        setOutcome(null)
        return read('testConnection', {
          ws: workspace.id,
          connection: connection.name,
          body: url === '' ? {} : { url },
        })
      }}
      onDone={setOutcome}
      staysOpen
      action="Test"
      cancel="Close"
    >
      <TextField
        label="URL"
        isOptional={hasToken}
        hint={`Called with GET.${hasToken ? ' Leave empty to request a token only.' : ''}`}
        name="url"
        type="url"
        isMono
        placeholder={`https://${connection.hosts[0]}/`}
      />
      {outcome && (
        <p role="status">
          <Badge tone={outcome.ok ? 'good' : 'bad'}>{outcome.ok ? 'Works' : 'Failed'}</Badge> {outcome.message}
        </p>
      )}
    </Form>
  )
}

type Kind = Connection['kind']

const kindNames: Record<Kind, string> = {
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

function ConnectionForm({ connection }: { connection: Connection | null }) {
  const { workspace } = useWorkspace()
  const [kind, setKind] = useState<Kind>(connection?.kind ?? 'header')
  // Only OAuth 2 has the last one: a field that is not shown is empty.
  const names = [...[...fieldsOf[kind], ...certificateFields].map(({ name }) => name), 'client_authentication']
  return (
    <Form
      read={field => ({
        name: connection?.name ?? field('name').trim(),
        hosts: field('hosts').match(/[^\s,]+/g) ?? [],
        values: Object.fromEntries(names.map(name => [name, field(name).trim()])),
      })}
      check={({ name, hosts }) => ({
        name: !nameForm.test(name) && 'Use letters, digits and . _ -, starting with a letter or a digit.',
        hosts: hosts.length === 0 && 'Enter at least one host.',
      })}
      submit={async ({ name, hosts, values }) => {
        const named = { ws: workspace.id, connection: name }
        if (!connection) await refuseTakenName('connection', () => read('getConnection', named))
        const given = Object.entries(values).filter(([, value]) => value !== '')
        const body = {
          kind,
          hosts,
          ...Object.fromEntries(given),
          ...(kind === 'identity_token' ? { lifetime_s: Number(values.lifetime_s) } : {}),
          // The form has no field for further parameters, and keeps them.
          ...(kind === 'oauth2' ? { parameters: connection?.parameters ?? {} } : {}),
        } as Body<'putConnection'> // the fields of the kind
        return call('putConnection', { ...named, body })
      }}
      done={({ name }) => (connection ? `${name} updated` : `${name} created`)}
      action={connection ? 'Save' : 'Create connection'}
    >
      {!connection && <TextField label="Name" hint="Such as billing-api." name="name" isMono />}
      <SelectField
        label="Kind"
        name="kind"
        value={kind}
        onChange={event => setKind(event.target.value as Kind)}
        options={optionsOf(kindNames)}
      />
      <TextField
        label="Hosts"
        hint="Separated by spaces, such as api.example.com or *.example.com. Other hosts never receive the credentials."
        name="hosts"
        isMono
        defaultValue={connection?.hosts.join(' ')}
      />
      {fieldsOf[kind].map(field => (
        <ConnectionInput key={field.name} field={field} stored={connection} />
      ))}
      {kind === 'oauth2' && (
        <SelectField
          label="Client authentication"
          name="client_authentication"
          defaultValue={connection?.client_authentication ?? 'basic'}
          options={optionsOf({ basic: 'HTTP Basic', post: 'Parameters in the body' })}
        />
      )}
      <details open={kind === 'tls' || connection?.ca_certificate || connection?.client_certificate ? true : undefined}>
        <summary>Certificates</summary>
        {certificateFields.map(field => (
          <ConnectionInput key={field.name} field={field} stored={connection} />
        ))}
      </details>
    </Form>
  )
}

type ConnectionInputProps = { field: FormField; stored: Connection | null }

function ConnectionInput({ field, stored }: ConnectionInputProps) {
  const { name, label, hint, isSecret = false, isLong = false, isOptional = false, initial = '' } = field
  const secretHint = stored ? 'Leave empty to keep the stored one.' : 'It is never shown again.'
  const before = isSecret ? '' : (stored?.[name as keyof Connection] ?? initial)
  const texts = { label, isOptional, hint: isSecret ? secretHint : hint }
  const props = { ...texts, name, defaultValue: String(before), isMono: true }
  return isLong || isSecret ? <TextareaField {...props} rows={isLong ? 3 : 2} /> : <TextField {...props} />
}
