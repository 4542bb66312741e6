import type { Integration, IntegrationTest } from '@belfry/contract/integration'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { BellRing, Pencil, Plus, Send, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { messageOf } from '../../api/api-problem.ts'
import { deleteIntegration, integrationsQuery, testIntegration } from '../../api/integrations.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { useToast } from '../../ui/toast.tsx'
import { channelNames, eventNames, IntegrationForm } from './integration-form.tsx'
import styles from './settings.module.css'

export function Integrations(): ReactNode {
  const { workspace } = useWorkspace()
  const list = useInfiniteQuery(integrationsQuery(workspace.id))

  const [editing, setEditing] = useState<Integration | 'new' | null>(null)
  const [deleting, setDeleting] = useState<Integration | null>(null)
  const create = (
    <Button
      kind="primary"
      icon={<Plus size={16} />}
      refusal={useRefusal('integration.write')}
      onClick={() => setEditing('new')}
    >
      New integration
    </Button>
  )
  const changed = editing === 'new' ? null : editing
  return (
    <>
      <PageHeader
        title="Integrations"
        description="Get notified about dead tasks, failing cron jobs and quotas. Bursts are grouped into one message."
        actions={create}
      />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.items.length === 0 ? (
        <EmptyState icon={<BellRing size={22} aria-hidden="true" />} title="No integrations yet" actions={create}>
          Add a Slack or Discord channel, an email address or a webhook to hear about dead tasks before your customers
          do.
        </EmptyState>
      ) : (
        <IntegrationTable integrations={list.data?.items} onEdit={setEditing} onDelete={setDeleting} />
      )}
      <LoadMore {...list} />
      <Dialog
        isOpen={editing !== null}
        onClose={() => setEditing(null)}
        title={changed ? `Edit ${changed.name}` : 'New integration'}
      >
        <IntegrationForm integration={changed} onDone={() => setEditing(null)} />
      </Dialog>
      <ConfirmChange
        of={deleting}
        onClose={() => setDeleting(null)}
        title={({ name }) => `Delete ${name}?`}
        description="It no longer receives alerts."
        action="Delete integration"
        run={({ id }) => deleteIntegration(workspace.id, id)}
        affects={['integrations', workspace.id]}
        done={({ name }) => `${name} deleted`}
      />
    </>
  )
}

type IntegrationTableProps = {
  integrations: Integration[] | undefined
  onEdit(integration: Integration): void
  onDelete(integration: Integration): void
}

function IntegrationTable({ integrations, onEdit, onDelete }: IntegrationTableProps): ReactNode {
  const writeRefusal = useRefusal('integration.write')
  const deleteRefusal = useRefusal('integration.delete')
  return (
    <Table
      label="Integrations"
      rows={integrations}
      rowKey={({ id }) => id}
      columns={[
        {
          id: 'name',
          header: 'Name',
          cell: ({ name, channel, target, confirmed }) => (
            <div className={styles.twoLines}>
              {name}
              <span>
                {channelNames[channel]}, {target} {!confirmed && <Badge tone="warn">Waiting for confirmation</Badge>}
              </span>
            </div>
          ),
        },
        {
          id: 'events',
          header: 'Events',
          isExtra: true,
          cell: ({ events }) => (
            <div className={styles.badges}>
              {events.map(event => (
                <Badge key={event}>{eventNames[event]}</Badge>
              ))}
            </div>
          ),
        },
        {
          id: 'actions',
          header: <span className="visually-hidden">Actions</span>,
          align: 'end',
          cell: integration => (
            <div className={styles.rowActions}>
              <TestButton integration={integration} />
              <IconButton
                label={`Edit ${integration.name}`}
                icon={<Pencil size={16} />}
                refusal={writeRefusal}
                onClick={() => onEdit(integration)}
              />
              <IconButton
                label={`Delete ${integration.name}`}
                icon={<Trash2 size={16} />}
                refusal={deleteRefusal}
                onClick={() => onDelete(integration)}
              />
            </div>
          ),
        },
      ]}
    />
  )
}

function TestButton({ integration }: { integration: Integration }): ReactNode {
  const { workspace } = useWorkspace()
  const toast = useToast()
  const test = useMutation({
    mutationFn: () => testIntegration(workspace.id, integration.id),
    onSuccess: result => toast(resultText(integration, result), result.delivered ? 'good' : 'bad'),
    onError: error => toast(messageOf(error), 'bad'),
  })
  return (
    <Button
      size="small"
      icon={<Send size={14} />}
      aria-label={`Send a test to ${integration.name}`}
      refusal={useRefusal('integration.write')}
      isPending={test.isPending}
      onClick={() => test.mutate()}
    >
      Test
    </Button>
  )
}

function resultText({ name }: Integration, { delivered, error }: IntegrationTest): string {
  return delivered ? `Test delivered to ${name}` : `The test could not be delivered to ${name}: ${error}`
}
