import type { Connection } from '@belfry/contract/connection'
import { useQuery } from '@tanstack/react-query'
import { KeyRound, Pencil, Play, Plus, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { connectionsQuery, deleteConnection } from '../../api/connections.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { ConnectionForm, kindNames } from './connection-form.tsx'
import { ConnectionTestDialog } from './connection-test-dialog.tsx'
import styles from './settings.module.css'

export function Connections(): ReactNode {
  const { workspace } = useWorkspace()
  const list = useQuery(connectionsQuery(workspace.id))
  const [editing, setEditing] = useState<Connection | 'new' | null>(null)
  const [testing, setTesting] = useState<Connection | null>(null)
  const [deleting, setDeleting] = useState<Connection | null>(null)
  const create = (
    <Button
      kind="primary"
      icon={<Plus size={16} />}
      refusal={useRefusal('connection.write')}
      onClick={() => setEditing('new')}
    >
      New connection
    </Button>
  )
  const changed = editing === 'new' ? null : editing
  return (
    <>
      <PageHeader
        title="Connections"
        description="Credentials that prove to a target who calls it. Tasks, cron jobs and subscriptions name a connection."
        actions={create}
      />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.length === 0 ? (
        <EmptyState icon={<KeyRound size={22} aria-hidden="true" />} title="No connections yet" actions={create}>
          Add a header, a password, OAuth 2 client credentials, an identity token or a client certificate.
        </EmptyState>
      ) : (
        <ConnectionTable connections={list.data} onEdit={setEditing} onTest={setTesting} onDelete={setDeleting} />
      )}
      <Dialog
        isOpen={editing !== null}
        onClose={() => setEditing(null)}
        title={changed ? `Edit ${changed.name}` : 'New connection'}
        description="New calls use it within five seconds."
      >
        <ConnectionForm connection={changed} onDone={() => setEditing(null)} />
      </Dialog>
      {testing && <ConnectionTestDialog connection={testing} onClose={() => setTesting(null)} />}
      <ConfirmChange
        of={deleting}
        onClose={() => setDeleting(null)}
        title={({ name }) => `Delete ${name}?`}
        description="Tasks that name it fail. It cannot be deleted while a cron job or a subscription names it."
        action="Delete connection"
        run={({ name }) => deleteConnection(workspace.id, name)}
        affects={['connections', workspace.id]}
        done={({ name }) => `${name} deleted`}
      />
    </>
  )
}

type ConnectionTableProps = {
  connections: Connection[] | undefined
  onEdit(connection: Connection): void
  onTest(connection: Connection): void
  onDelete(connection: Connection): void
}

function ConnectionTable({ connections, onEdit, onTest, onDelete }: ConnectionTableProps): ReactNode {
  const writeRefusal = useRefusal('connection.write')
  const testRefusal = useRefusal('connection.test')
  const deleteRefusal = useRefusal('connection.delete')
  return (
    <Table
      label="Connections"
      rows={connections}
      rowKey={({ name }) => name}
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
        {
          id: 'actions',
          header: <span className="visually-hidden">Actions</span>,
          align: 'end',
          cell: connection => (
            <div className={styles.rowActions}>
              <IconButton
                label={`Test ${connection.name}`}
                icon={<Play size={16} />}
                refusal={testRefusal}
                onClick={() => onTest(connection)}
              />
              <IconButton
                label={`Edit ${connection.name}`}
                icon={<Pencil size={16} />}
                refusal={writeRefusal}
                onClick={() => onEdit(connection)}
              />
              <IconButton
                label={`Delete ${connection.name}`}
                icon={<Trash2 size={16} />}
                refusal={deleteRefusal}
                onClick={() => onDelete(connection)}
              />
            </div>
          ),
        },
      ]}
    />
  )
}
