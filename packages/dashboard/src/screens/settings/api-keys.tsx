import type { ApiKey, NewApiKey } from '@belfry/contract/api-key'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Ban, KeyRound, Plus, RefreshCw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { apiKeysQuery, revokeApiKey } from '../../api/api-keys.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { SaveKey } from '../../layout/save-key.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { NewKeyForm } from './new-key-form.tsx'
import { RollKeyDialog } from './roll-key-dialog.tsx'
import { scopeText } from './scope-text.ts'
import styles from './settings.module.css'

export function ApiKeys(): ReactNode {
  const { workspace } = useWorkspace()
  const list = useInfiniteQuery(apiKeysQuery(workspace.id))
  const [isCreating, setIsCreating] = useState(false)
  const [created, setCreated] = useState<NewApiKey | null>(null)
  const [rolling, setRolling] = useState<ApiKey | null>(null)
  const [revoking, setRevoking] = useState<ApiKey | null>(null)
  const create = (
    <Button
      kind="primary"
      icon={<Plus size={16} />}
      refusal={useRefusal('api_key.create')}
      onClick={() => setIsCreating(true)}
    >
      New API key
    </Button>
  )
  return (
    <>
      <PageHeader
        title="API keys"
        description={`A key grants access to the tasks, cron jobs and events of ${workspace.name}, with at most the rights of its creator. Send it in the X-Api-Key header.`}
        actions={create}
      />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.items.length === 0 ? (
        <EmptyState icon={<KeyRound size={22} aria-hidden="true" />} title="No API keys yet" actions={create}>
          Your server needs an API key to schedule webhooks. Create one per application, so you can revoke each one
          separately.
        </EmptyState>
      ) : (
        <KeyTable keys={list.data?.items} onRoll={setRolling} onRevoke={setRevoking} />
      )}
      <LoadMore {...list} />
      <Dialog isOpen={isCreating} onClose={() => setIsCreating(false)} title="New API key">
        <NewKeyForm
          onCancel={() => setIsCreating(false)}
          onCreated={key => {
            setIsCreating(false)
            setCreated(key)
          }}
        />
      </Dialog>
      <Dialog
        isOpen={created !== null}
        onClose={() => setCreated(null)}
        title="Copy your API key"
        description="You can see it only this once. Belfry stores only its hash."
      >
        <CodeBlock text={created?.key ?? ''} label="API key" isWrapped />
        <DialogActions>
          <SaveKey apiKey={created?.key ?? ''} />
          <Button kind="primary" onClick={() => setCreated(null)}>
            I have copied it
          </Button>
        </DialogActions>
      </Dialog>
      <RollKeyDialog
        of={rolling}
        onClose={() => setRolling(null)}
        onRolled={key => {
          setRolling(null)
          setCreated(key)
        }}
      />
      <ConfirmChange
        of={revoking}
        onClose={() => setRevoking(null)}
        title={key => `Revoke ${key.name}?`}
        description="Calls with this key are rejected within five seconds. Tasks that it created stay scheduled. This cannot be undone."
        action="Revoke key"
        run={key => revokeApiKey(workspace.id, key.id)}
        affects={['api-keys', workspace.id]}
        done={key => `${key.name} revoked`}
      />
    </>
  )
}

type KeyTableProps = { keys: ApiKey[] | undefined; onRoll(key: ApiKey): void; onRevoke(key: ApiKey): void }

function KeyTable({ keys, onRoll, onRevoke }: KeyTableProps): ReactNode {
  const mayNotRoll = useRefusal('api_key.create')
  const refusal = useRefusal('api_key.revoke')
  return (
    <Table
      label="API keys"
      rows={keys}
      rowKey={key => key.id}
      columns={[
        {
          id: 'name',
          header: 'Name',
          cell: key => (
            <span className={styles.twoLines}>
              {key.name}
              {key.subject && <span>{key.subject}</span>}
            </span>
          ),
        },
        {
          id: 'prefix',
          header: 'Prefix',
          isExtra: true,
          cell: key => <code className={styles.mono}>{key.prefix}…</code>,
        },
        {
          id: 'access',
          header: 'Access',
          isExtra: true,
          cell: accessOf,
        },
        { id: 'state', header: 'Status', cell: key => <KeyStatus apiKey={key} /> },
        {
          id: 'used',
          header: 'Last used',
          isExtra: true,
          cell: key =>
            key.last_used_at ? (
              <span className={styles.twoLines}>
                <RelativeTime at={key.last_used_at} />
                {key.last_used_address && <span>{key.last_used_address}</span>}
              </span>
            ) : (
              'Never'
            ),
        },
        { id: 'created', header: 'Created', isExtra: true, cell: key => <RelativeTime at={key.created_at} /> },
        {
          id: 'actions',
          header: <span className="visually-hidden">Actions</span>,
          align: 'end',
          cell: key =>
            isOver(key) ? null : (
              <div className={styles.rowActions}>
                {key.federated_credential_id === null && (
                  <IconButton
                    label={`Roll ${key.name}`}
                    icon={<RefreshCw size={16} />}
                    refusal={mayNotRoll}
                    onClick={() => onRoll(key)}
                  />
                )}
                <IconButton
                  label={`Revoke ${key.name}`}
                  icon={<Ban size={16} />}
                  refusal={refusal}
                  onClick={() => onRevoke(key)}
                />
              </div>
            ),
        },
      ]}
    />
  )
}

function accessOf({ scopes, allowed_ranges: ranges }: ApiKey): ReactNode {
  return (
    <span className={styles.twoLines}>
      {scopeText(scopes)}
      {ranges.length > 0 && <span>From {ranges.join(', ')}</span>}
    </span>
  )
}

function isOver(key: ApiKey): boolean {
  return key.revoked_at !== null || (key.expires_at !== null && new Date(key.expires_at) <= new Date())
}

function KeyStatus({ apiKey }: { apiKey: ApiKey }): ReactNode {
  if (apiKey.revoked_at) return <Badge>Revoked</Badge>
  if (!apiKey.expires_at) return <Badge tone="good">Active</Badge>
  const isExpired = isOver(apiKey)
  return (
    <Badge tone={isExpired ? 'plain' : 'warn'}>
      {isExpired ? 'Expired' : 'Expires'} <RelativeTime at={apiKey.expires_at} />
    </Badge>
  )
}
