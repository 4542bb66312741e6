import { useInfiniteQuery } from '@tanstack/react-query'
import { LockKeyhole, Pencil, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { deleteSecret, secretsQuery } from '../../api/secrets.ts'
import { updateWorkspace } from '../../api/workspaces.ts'
import { useChange } from '../../forms/use-change.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { ConfirmButton, DialogButton } from '../../layout/row-buttons.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useOrganization, useWorkspace } from '../../session/scope.ts'
import { Switch } from '../../ui/checkbox.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { SecretForm } from './secret-form.tsx'
import styles from './settings.module.css'

export function Secrets(): ReactNode {
  const { workspace } = useWorkspace()
  const { organization } = useOrganization()
  const list = useInfiniteQuery(secretsQuery(workspace.id))
  const refusal = useRefusal('secret.write')
  const mayNotChange = useRefusal('workspace.change')
  const keep = useChange({
    run: (keeps: boolean) => updateWorkspace(workspace.id, { keeps_responses_with_secrets: keeps }),
    affects: [['workspaces', organization.id]],
  })
  const delay = 'New requests use the value within five seconds.'
  return (
    <ResourceList
      title="Secrets"
      description="Values for URLs, headers and payloads, filled in when a request is sent. They are never shown again, not even in the log when a target echoes them."
      list={list}
      rows={list.data?.items}
      rowKey={secret => secret.name}
      create={{
        label: 'New secret',
        description: delay,
        refusal,
        form: close => <SecretForm secret={null} onDone={close} />,
      }}
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
        { id: 'name', header: 'Name', cell: secret => <code className={styles.mono}>{secret.name}</code> },
        {
          id: 'reference',
          header: 'Reference',
          isExtra: true,
          cell: ({ name }) => (
            <>
              <code className={styles.oneLine}>{referenceTo(name)}</code>{' '}
              <CopyButton text={referenceTo(name)} label={`Copy reference to ${name}`} />
            </>
          ),
        },
        {
          id: 'hosts',
          header: 'Allowed hosts',
          isExtra: true,
          cell: ({ allowed_hosts }) =>
            allowed_hosts === null ? 'All' : <code className={styles.mono}>{allowed_hosts.join(' ')}</code>,
        },
        { id: 'updated', header: 'Updated', cell: secret => <RelativeTime at={secret.updated_at} /> },
      ]}
      actions={secret => (
        <>
          <DialogButton
            label={`Edit ${secret.name}`}
            icon={<Pencil size={16} />}
            title={`Replace ${secret.name}`}
            description={delay}
            refusal={refusal}
            form={close => <SecretForm secret={secret} onDone={close} />}
          />
          <ConfirmButton
            label={`Delete ${secret.name}`}
            icon={<Trash2 size={16} />}
            description="Requests that reference it fail until you create a secret with this name again."
            action="Delete secret"
            refusal={refusal}
            run={() => deleteSecret(workspace.id, secret.name)}
            affects={[['secrets', workspace.id]]}
            done={`${secret.name} deleted`}
          />
        </>
      )}
    >
      <div className={styles.section}>
        <Switch
          label="Keep responses to requests with secrets"
          hint="When off, the log shows only the status of a response to a request with a secret."
          isOn={workspace.keeps_responses_with_secrets}
          refusal={mayNotChange}
          onChange={isOn => keep.mutate(isOn)}
        />
      </div>
    </ResourceList>
  )
}

function referenceTo(name: string): string {
  return `{{ secrets.${name} }}`
}
