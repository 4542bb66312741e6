import { useQuery } from '@tanstack/react-query'
import { KeyRound, Pencil, Play, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { connectionsQuery, deleteConnection } from '../../api/connections.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { ConfirmButton, DialogButton } from '../../layout/row-buttons.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { RelativeTime } from '../../ui/time.tsx'
import { ConnectionForm, kindNames } from './connection-form.tsx'
import { ConnectionTestForm } from './connection-test-form.tsx'
import styles from './settings.module.css'

export function Connections(): ReactNode {
  const { workspace } = useWorkspace()
  const list = useQuery(connectionsQuery(workspace.id))
  const writeRefusal = useRefusal('connection.write')
  const testRefusal = useRefusal('connection.test')
  const deleteRefusal = useRefusal('connection.delete')
  const delay = 'New calls use it within five seconds.'
  return (
    <ResourceList
      title="Connections"
      description="Credentials that prove to a target who calls it. Tasks, cron jobs and subscriptions name a connection."
      list={list}
      rows={list.data}
      rowKey={({ name }) => name}
      create={{
        label: 'New connection',
        description: delay,
        refusal: writeRefusal,
        form: close => <ConnectionForm connection={null} onDone={close} />,
      }}
      empty={{
        icon: KeyRound,
        title: 'No connections yet',
        children: 'Add a header, a password, OAuth 2 client credentials, an identity token or a client certificate.',
      }}
      columns={[
        { id: 'name', header: 'Name', cell: ({ name }) => <code className={styles.mono}>{name}</code> },
        { id: 'kind', header: 'Kind', cell: ({ kind }) => kindNames[kind] },
        {
          id: 'hosts',
          header: 'Hosts',
          isExtra: true,
          cell: ({ hosts }) => <code className={styles.mono}>{hosts.join(' ')}</code>,
        },
        { id: 'updated', header: 'Updated', isExtra: true, cell: one => <RelativeTime at={one.updated_at} /> },
      ]}
      actions={connection => (
        <>
          <DialogButton
            label={`Test ${connection.name}`}
            icon={<Play size={16} />}
            title={`Test ${connection.name}`}
            refusal={testRefusal}
            form={close => <ConnectionTestForm connection={connection} onClose={close} />}
          />
          <DialogButton
            label={`Edit ${connection.name}`}
            icon={<Pencil size={16} />}
            title={`Edit ${connection.name}`}
            description={delay}
            refusal={writeRefusal}
            form={close => <ConnectionForm connection={connection} onDone={close} />}
          />
          <ConfirmButton
            label={`Delete ${connection.name}`}
            icon={<Trash2 size={16} />}
            description="Tasks that name it fail. It cannot be deleted while a cron job or a subscription names it."
            action="Delete connection"
            refusal={deleteRefusal}
            run={() => deleteConnection(workspace.id, connection.name)}
            affects={[['connections', workspace.id]]}
            done={`${connection.name} deleted`}
          />
        </>
      )}
    />
  )
}
