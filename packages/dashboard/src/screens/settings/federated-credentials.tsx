import type { FederatedCredential } from '@belfry/contract/federated-credential'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Plus, Trash2, Workflow } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { deleteFederatedCredential, federatedCredentialsQuery } from '../../api/federated-credentials.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { FederatedCredentialForm } from './federated-credential-form.tsx'
import { scopeText } from './scope-text.ts'
import styles from './settings.module.css'

export function FederatedCredentials(): ReactNode {
  const { workspace } = useWorkspace()
  const list = useInfiniteQuery(federatedCredentialsQuery(workspace.id))
  const [isCreating, setIsCreating] = useState(false)
  const [deleting, setDeleting] = useState<FederatedCredential | null>(null)
  const create = (
    <Button
      kind="primary"
      icon={<Plus size={16} />}
      refusal={useRefusal('federated_credential.create')}
      onClick={() => setIsCreating(true)}
    >
      New credential
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Federated credentials"
        description="CI jobs exchange their OpenID Connect tokens for an API key that expires within an hour, so no key is stored in CI."
        actions={create}
      />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.items.length === 0 ? (
        <EmptyState
          icon={<Workflow size={22} aria-hidden="true" />}
          title="No federated credentials yet"
          actions={create}
        >
          Trust the jobs of a repository on GitHub Actions, GitLab CI or another service with OpenID Connect tokens.
        </EmptyState>
      ) : (
        <CredentialTable credentials={list.data?.items} onDelete={setDeleting} />
      )}
      <LoadMore {...list} />
      <Dialog isOpen={isCreating} onClose={() => setIsCreating(false)} title="New federated credential">
        <FederatedCredentialForm onDone={() => setIsCreating(false)} />
      </Dialog>
      <ConfirmChange
        of={deleting}
        onClose={() => setDeleting(null)}
        title={({ name }) => `Delete ${name}?`}
        description="Its jobs get no more API keys, and the keys that they have are revoked."
        action="Delete credential"
        run={({ id }) => deleteFederatedCredential(workspace.id, id)}
        affects={['federated-credentials', workspace.id]}
        done={({ name }) => `${name} deleted`}
      />
    </>
  )
}

type CredentialTableProps = {
  credentials: FederatedCredential[] | undefined
  onDelete(credential: FederatedCredential): void
}

function CredentialTable({ credentials, onDelete }: CredentialTableProps): ReactNode {
  const refusal = useRefusal('federated_credential.delete')
  return (
    <Table
      label="Federated credentials"
      rows={credentials}
      rowKey={({ id }) => id}
      columns={[
        {
          id: 'name',
          header: 'Name',
          cell: ({ name, id }) => (
            <span className={styles.twoLines}>
              {name}
              <span>{id}</span>
            </span>
          ),
        },
        {
          id: 'trusts',
          header: 'Trusted jobs',
          isExtra: true,
          cell: ({ issuer, conditions }) => (
            <span className={styles.twoLines}>
              {new URL(issuer).host}
              {Object.entries(conditions).map(([claim, value]) => (
                <span key={claim}>
                  {claim}: {value}
                </span>
              ))}
            </span>
          ),
        },
        {
          id: 'access',
          header: 'Access',
          isExtra: true,
          cell: ({ scopes, lifetime_ms }) => (
            <span className={styles.twoLines}>
              {scopeText(scopes)}
              <span>for {Math.round(lifetime_ms / 60_000)} min</span>
            </span>
          ),
        },
        {
          id: 'used',
          header: 'Last used',
          isExtra: true,
          cell: ({ last_used_at: at }) => (at ? <RelativeTime at={at} /> : 'Never'),
        },
        {
          id: 'actions',
          header: <span className="visually-hidden">Actions</span>,
          align: 'end',
          cell: credential => (
            <div className={styles.rowActions}>
              <IconButton
                label={`Delete ${credential.name}`}
                icon={<Trash2 size={16} />}
                refusal={refusal}
                onClick={() => onDelete(credential)}
              />
            </div>
          ),
        },
      ]}
    />
  )
}
