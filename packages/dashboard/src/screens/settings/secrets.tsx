import type { Secret } from '@belfry/contract/secret'
import { useInfiniteQuery } from '@tanstack/react-query'
import { LockKeyhole } from 'lucide-react'
import type { ReactNode } from 'react'
import { call } from '../../api/call.ts'
import { pagesOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { ChangeSwitch } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { TextareaField, TextField } from '../../ui/field.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './settings.module.css'

export function Secrets(): ReactNode {
  const { workspace } = useWorkspace()
  const delay = 'New requests use the value within five seconds.'
  return (
    <ResourceList
      title="Secrets"
      description="Values for URLs, headers and payloads, filled in when a request is sent. They are never shown again, not even in the log when a target echoes them."
      list={useInfiniteQuery(pagesOf('listSecrets', { ws: workspace.id }))}
      rowKey={secret => secret.name}
      create={{ label: 'New secret', description: delay, right: 'secret.write', form: <SecretForm secret={null} /> }}
      empty={{
        icon: LockKeyhole,
        title: 'No secrets yet',
        children: (
          <>
            Store a token here and write <code>{'{{ secrets.API_TOKEN }}'}</code> where a task needs it.
          </>
        ),
      }}
      columns={[
        {
          header: 'Name',
          cell: ({ name }) => (
            <>
              <code className={styles.mono}>{name}</code>{' '}
              <CopyButton text={`{{ secrets.${name} }}`} label={`Copy reference to ${name}`} />
            </>
          ),
        },
        {
          header: 'Allowed hosts',
          isExtra: true,
          cell: ({ allowed_hosts }) =>
            allowed_hosts === null ? 'All' : <code className={styles.mono}>{allowed_hosts.join(' ')}</code>,
        },
        { header: 'Updated', cell: secret => <RelativeTime at={secret.updated_at} /> },
      ]}
      nameOf={({ name }) => name}
      edit={{
        title: ({ name }) => `Replace ${name}`,
        description: delay,
        right: 'secret.write',
        form: secret => <SecretForm secret={secret} />,
      }}
      remove={{
        what: 'secret',
        description: 'Requests that reference it fail until you create a secret with this name again.',
        right: 'secret.write',
        run: ({ name }) => call('deleteSecret', { ws: workspace.id, name }),
      }}
    >
      <div className={styles.section}>
        <ChangeSwitch
          label="Keep responses to requests with secrets"
          hint="When off, the log shows only the status of a response to a request with a secret."
          isOn={workspace.keeps_responses_with_secrets}
          refusal={useRefusal('workspace.change')}
          run={isOn => call('updateWorkspace', { ws: workspace.id, body: { keeps_responses_with_secrets: isOn } })}
        />
      </div>
    </ResourceList>
  )
}

const namePattern = /^[A-Z][A-Z0-9_]{0,63}$/

/** @param props.secret - The secret to replace; null creates one. */
function SecretForm({ secret }: { secret: Secret | null }): ReactNode {
  const { workspace } = useWorkspace()
  const form = useForm({
    read: field => ({
      name: secret?.name ?? field('name').trim(),
      value: field('value'),
      hosts: field('allowed_hosts'),
    }),
    check: ({ name, value }) => ({
      name: !namePattern.test(name) && 'Use capital letters, digits and underscores, starting with a letter.',
      value: value === '' && 'Enter a value.',
    }),
    submit({ name, value, hosts }) {
      const allowed = hosts.split(/[\s,]+/).filter(Boolean)
      return call('putSecret', {
        ws: workspace.id,
        name,
        body: { value, allowed_hosts: allowed.length === 0 ? null : allowed },
      })
    },
    done: ({ name }) => (secret ? `${name} updated` : `${name} created`),
  })
  return (
    <Form form={form} action={secret ? 'Replace value' : 'Create secret'}>
      {!secret && (
        <TextField
          label="Name"
          hint="Such as API_TOKEN. An existing secret with this name is replaced."
          name="name"
          isMono
          autoCapitalize="characters"
        />
      )}
      <TextareaField
        label="Value"
        hint="At least four characters. It is never shown again."
        name="value"
        isMono
        rows={3}
      />
      <TextField
        label="Allowed hosts"
        hint="Separated by spaces, such as api.example.com or *.example.com. Empty: the secret can be sent to every host."
        name="allowed_hosts"
        isMono
        defaultValue={secret?.allowed_hosts?.join(' ') ?? ''}
      />
    </Form>
  )
}
