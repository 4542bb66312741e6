import type { Secret } from '@belfry/contract'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { LockKeyhole, Pencil, Plus, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { messageOf } from '../../api/api-problem.ts'
import { deleteSecret, secretsQuery } from '../../api/secrets.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import { SecretForm } from './secret-form.tsx'
import styles from './settings.module.css'

export function Secrets(): ReactNode {
  const { workspace } = useWorkspace()
  const list = useInfiniteQuery(secretsQuery(workspace.id))

  const [writing, setWriting] = useState<Secret | 'new' | null>(null)
  const [deleting, setDeleting] = useState<Secret | null>(null)
  const refusal = useRefusal('secret.write')
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
                  <code className={styles.mono}>{referenceTo(name)}</code>{' '}
                  <CopyButton text={referenceTo(name)} label={`Copy reference to ${name}`} />
                </>
              ),
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
      <Dialog
        isOpen={writing !== null}
        onClose={() => setWriting(null)}
        title={edited ? `Replace the value of ${edited.name}` : 'New secret'}
        description="New requests use the value within five seconds."
      >
        <SecretForm secret={edited} onDone={() => setWriting(null)} />
      </Dialog>
      <DeleteDialog secret={deleting} onClose={() => setDeleting(null)} />
    </>
  )
}

function DeleteDialog({ secret, onClose }: { secret: Secret | null; onClose(): void }): ReactNode {
  const { workspace } = useWorkspace()
  const client = useQueryClient()
  const toast = useToast()
  const remove = useMutation({
    mutationFn: ({ name }: Secret) => deleteSecret(workspace.id, name),
    async onSuccess(_, { name }) {
      onClose()
      toast(`${name} deleted`)
      await client.invalidateQueries({ queryKey: ['secrets', workspace.id] })
    },
    onError: error => toast(messageOf(error), 'bad'),
  })
  return (
    <ConfirmDialog
      isOpen={secret !== null}
      onClose={onClose}
      title={`Delete ${secret?.name ?? 'the secret'}?`}
      description="Requests that reference it fail until you create a secret with this name again."
      action="Delete secret"
      isDangerous
      isPending={remove.isPending}
      onConfirm={() => secret && remove.mutate(secret)}
    />
  )
}

function referenceTo(name: string): string {
  return `{{ secrets.${name} }}`
}
