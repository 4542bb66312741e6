import type { Secret } from '@belfry/contract/secret'
import { useInfiniteQuery } from '@tanstack/react-query'
import { LockKeyhole, Pencil, Plus, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { deleteSecret, secretsQuery } from '../../api/secrets.ts'
import { updateWorkspace } from '../../api/workspaces.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { useChange } from '../../forms/use-change.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useOrganization, useWorkspace } from '../../session/scope.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Switch } from '../../ui/checkbox.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { SecretForm } from './secret-form.tsx'
import styles from './settings.module.css'

export function Secrets(): ReactNode {
  const { workspace } = useWorkspace()
  const { organization } = useOrganization()
  const list = useInfiniteQuery(secretsQuery(workspace.id))

  const [writing, setWriting] = useState<Secret | 'new' | null>(null)
  const [deleting, setDeleting] = useState<Secret | null>(null)
  const refusal = useRefusal('secret.write')
  const mayNotChange = useRefusal('workspace.change')
  const keep = useChange({
    run: (keeps: boolean) => updateWorkspace(workspace.id, { keeps_responses_with_secrets: keeps }),
    affects: ['workspaces', organization.id],
  })
  const create = (
    <Button kind="primary" icon={<Plus size={16} />} refusal={refusal} onClick={() => setWriting('new')}>
      New secret
    </Button>
  )
  const edited = writing === 'new' || writing === null ? null : writing
  return (
    <>
      <PageHeader
        title="Secrets"
        description="Values for URLs, headers and payloads, filled in when a request is sent. They are never shown again, not even in the log when a target echoes them."
        actions={create}
      />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.items.length === 0 ? (
        <EmptyState icon={<LockKeyhole size={22} aria-hidden="true" />} title="No secrets yet" actions={create}>
          Store a token here and write <code>{'{{ secrets.API_TOKEN }}'}</code> where a task needs it.
        </EmptyState>
      ) : (
        <Table
          label="Secrets"
          rows={list.data?.items}
          rowKey={secret => secret.name}
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
            {
              id: 'actions',
              header: <span className="visually-hidden">Actions</span>,
              align: 'end',
              cell: secret => (
                <div className={styles.rowActions}>
                  <IconButton
                    label={`Edit ${secret.name}`}
                    icon={<Pencil size={16} />}
                    refusal={refusal}
                    onClick={() => setWriting(secret)}
                  />
                  <IconButton
                    label={`Delete ${secret.name}`}
                    icon={<Trash2 size={16} />}
                    refusal={refusal}
                    onClick={() => setDeleting(secret)}
                  />
                </div>
              ),
            },
          ]}
        />
      )}
      <LoadMore {...list} />
      <div className={styles.section}>
        <Switch
          label="Keep responses to requests with secrets"
          hint="When off, the log shows only the status of a response to a request with a secret."
          isOn={workspace.keeps_responses_with_secrets}
          refusal={mayNotChange}
          onChange={isOn => keep.mutate(isOn)}
        />
      </div>
      <Dialog
        isOpen={writing !== null}
        onClose={() => setWriting(null)}
        title={edited ? `Replace ${edited.name}` : 'New secret'}
        description="New requests use the value within five seconds."
      >
        <SecretForm secret={edited} onDone={() => setWriting(null)} />
      </Dialog>
      <ConfirmChange
        of={deleting}
        onClose={() => setDeleting(null)}
        title={({ name }) => `Delete ${name}?`}
        description="Requests that reference it fail until you create a secret with this name again."
        action="Delete secret"
        run={({ name }) => deleteSecret(workspace.id, name)}
        affects={['secrets', workspace.id]}
        done={({ name }) => `${name} deleted`}
      />
    </>
  )
}

function referenceTo(name: string): string {
  return `{{ secrets.${name} }}`
}
