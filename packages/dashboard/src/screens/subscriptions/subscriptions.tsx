import type { Subscription } from '@belfry/contract/subscription'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Inbox, KeyRound, Pencil, Plus, Trash2 } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { deleteSubscription, subscriptionsQuery } from '../../api/subscriptions.ts'
import { tasksQuery } from '../../api/tasks.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { useCommands } from '../../layout/commands.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dotted } from '../../ui/dotted.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActiveSwitch } from './active-switch.tsx'
import { matchingTopics, topicsOf } from './recent-topics.ts'
import { SecretsDialog } from './secrets-dialog.tsx'
import { SubscriptionDialog } from './subscription-dialog.tsx'
import styles from './subscriptions.module.css'

type Open = { kind: 'new' } | { kind: 'edit' | 'delete' | 'secrets'; subscription: Subscription }

/** Lists the subscriptions of targets to topics. */
export function Subscriptions(): ReactNode {
  const { workspace } = useWorkspace()
  const list = useInfiniteQuery(subscriptionsQuery(workspace.id))
  const events = useInfiniteQuery(tasksQuery(workspace.id, { source: ['event'], limit: '100' }))
  const topics = useMemo(() => topicsOf(events.data?.items ?? []), [events.data])
  const [open, setOpen] = useState<Open | null>(null)
  const writeRefusal = useRefusal('subscription.write')
  const deleteRefusal = useRefusal('subscription.delete')
  const secretsRefusal = useRefusal('signing_secret.read')
  useCommands(
    useMemo(
      () =>
        writeRefusal
          ? []
          : [{ id: 'subscribe', label: 'New subscription', group: 'Create', run: () => setOpen({ kind: 'new' }) }],
      [writeRefusal],
    ),
  )
  const rows = list.data?.items
  const deleting = open?.kind === 'delete' ? open.subscription : null
  const create = (
    <Button
      kind="primary"
      icon={<Plus size={15} aria-hidden="true" />}
      refusal={writeRefusal}
      onClick={() => setOpen({ kind: 'new' })}
    >
      New subscription
    </Button>
  )
  const columns: ReadonlyArray<Column<Subscription>> = [
    {
      id: 'topic',
      header: 'Topic',
      cell: ({ topic, url }) => (
        <>
          <code className={styles.topic}>
            <Dotted name={topic} />
          </code>
          <span className={styles.narrowUrl}>{url.replace(/^https?:\/\//, '')}</span>
        </>
      ),
    },
    {
      id: 'url',
      header: 'Target',
      isExtra: true,
      cell: ({ url }) => (
        <span className={styles.url} title={url}>
          {url}
        </span>
      ),
    },
    {
      id: 'matches',
      header: 'Recent topics',
      isExtra: true,
      cell: ({ topic }) => <Matching topics={matchingTopics(topic, topics)} />,
    },
    {
      id: 'active',
      header: 'Active',
      cell: subscription => <ActiveSwitch subscription={subscription} refusal={writeRefusal} />,
    },
    {
      id: 'actions',
      header: <span className="visually-hidden">Actions</span>,
      align: 'end',
      cell: subscription => (
        <span className={styles.actions}>
          <IconButton
            size="small"
            label={`Edit ${subscription.topic}`}
            icon={<Pencil size={15} />}
            refusal={writeRefusal}
            onClick={() => setOpen({ kind: 'edit', subscription })}
          />
          <IconButton
            size="small"
            label={`Signing secret of ${subscription.topic}`}
            icon={<KeyRound size={15} />}
            refusal={secretsRefusal}
            onClick={() => setOpen({ kind: 'secrets', subscription })}
          />
          <IconButton
            size="small"
            label={`Delete ${subscription.topic}`}
            icon={<Trash2 size={15} />}
            refusal={deleteRefusal}
            onClick={() => setOpen({ kind: 'delete', subscription })}
          />
        </span>
      ),
    },
  ]
  return (
    <>
      <PageHeader
        title="Subscriptions"
        description="A subscription sends events with matching topics to a target. Events published without a target go to every active match."
        actions={create}
      />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {rows?.length === 0 ? (
        <EmptyState icon={<Inbox size={22} aria-hidden="true" />} title="No subscriptions yet" actions={create}>
          Subscribe a target to <code>orders.paid</code>, to all topics below <code>orders</code> with{' '}
          <code>orders.*</code>, or to all events with <code>*</code>. Then publish an event to that topic.
        </EmptyState>
      ) : (
        <>
          <Table label="Subscriptions" columns={columns} rows={rows} rowKey={({ id }) => id} />
          <LoadMore {...list} />
        </>
      )}
      {open?.kind === 'secrets' && <SecretsDialog subscription={open.subscription} onClose={() => setOpen(null)} />}
      {(open?.kind === 'new' || open?.kind === 'edit') && (
        <SubscriptionDialog
          subscription={open.kind === 'edit' ? open.subscription : null}
          topics={topics}
          onClose={() => setOpen(null)}
        />
      )}
      <ConfirmChange
        of={deleting}
        onClose={() => setOpen(null)}
        title={({ topic }) => `Delete the subscription to ${topic}?`}
        description={`${deleting?.url} will no longer receive these events. Events that are already published are still sent.`}
        action="Delete subscription"
        run={({ id }) => deleteSubscription(workspace.id, id)}
        affects={['subscriptions', workspace.id]}
        done={({ topic }) => `Subscription to ${topic} deleted`}
      />
    </>
  )
}

const maxShown = 2

function Matching({ topics }: { topics: readonly string[] }): ReactNode {
  if (topics.length === 0) return <span className={styles.faint}>None</span>
  const more = topics.length - maxShown
  return (
    <span className={styles.matching} title={topics.join('\n')}>
      {topics.slice(0, maxShown).map(topic => (
        <code key={topic}>{topic}</code>
      ))}
      {more > 0 && <span className={styles.faint}>and {more} more</span>}
    </span>
  )
}
