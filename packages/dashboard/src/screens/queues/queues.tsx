import type { Queue } from '@belfry/contract/queue'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { ListOrdered, Pause, Pencil, Play, Plus, Trash2 } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { messageOf } from '../../api/api-problem.ts'
import { deleteQueue, pauseQueue, queuesQuery } from '../../api/queues.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import type { WorkspacePaths } from '../../paths.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton, Link } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount, formatCounted } from '../../ui/format-amount.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useToast } from '../../ui/toast.tsx'
import { QueueDialog } from './queue-dialog.tsx'
import styles from './queues.module.css'

/** Lists the queues of a workspace with their limits and their load. */
export function Queues(): ReactNode {
  const { workspace, to } = useWorkspace()
  const { data, error, refetch, ...pages } = useInfiniteQuery(queuesQuery(workspace.id))
  const refusal = useRefusal('queue.write')
  const [edited, setEdited] = useState<Queue | 'new' | null>(null)
  const [deleted, setDeleted] = useState<Queue | null>(null)
  const columns = useMemo(() => columnsOf(to, setEdited, setDeleted), [to])
  const add = (
    <Button
      kind="primary"
      icon={<Plus size={16} aria-hidden="true" />}
      refusal={refusal}
      onClick={() => setEdited('new')}
    >
      New queue
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Queues"
        description="Limit how many calls of a group of tasks are in flight or start in a period, keep their order, or pause them."
        actions={add}
      />
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data?.items.length === 0 ? (
        <EmptyState icon={<ListOrdered size={22} aria-hidden="true" />} title="No queues yet">
          A queue appears here once a task names it.
        </EmptyState>
      ) : (
        !(error && !data) && <Table label="Queues" columns={columns} rows={data?.items} rowKey={({ name }) => name} />
      )}
      <LoadMore {...pages} />
      {edited && <QueueDialog queue={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
      <ConfirmChange
        of={deleted}
        onClose={() => setDeleted(null)}
        title={({ name }) => `Delete the queue ${name}?`}
        description="Its limits and its pause are deleted. Finished tasks stay in the log. A task that names the queue later creates it again without limits."
        action="Delete queue"
        run={({ name }) => deleteQueue(workspace.id, name)}
        affects={['queues', workspace.id]}
        done={({ name }) => `${name} deleted`}
      />
    </>
  )
}

// The number that the API counts to.
const maxCounted = 10_000

type OnQueue = (queue: Queue) => void

function columnsOf(to: WorkspacePaths, onEdit: OnQueue, onDelete: OnQueue): ReadonlyArray<Column<Queue>> {
  return [
    {
      id: 'name',
      header: 'Queue',
      cell: ({ name, paused_at }) => (
        <>
          <Link to={to.tasks(`?queue=${encodeURIComponent(name)}`)}>
            <span className={styles.name}>{name}</span>
          </Link>{' '}
          {paused_at && <Badge tone="warn">Paused</Badge>}
        </>
      ),
    },
    { id: 'limits', header: 'Limits', isExtra: true, cell: queue => limitsText(queue) },
    { id: 'load', header: 'In flight', align: 'end', isExtra: true, cell: queue => <Load queue={queue} /> },
    {
      id: 'waiting',
      header: 'Waiting',
      align: 'end',
      sortBy: ({ waiting }) => waiting,
      cell: ({ waiting }) => formatCounted(waiting, waiting >= maxCounted),
    },
    {
      id: 'oldest',
      header: 'Oldest',
      align: 'end',
      isExtra: true,
      cell: ({ oldest_due_ms: oldest }) => (oldest === null ? '–' : formatDuration(oldest)),
    },
    {
      id: 'actions',
      header: <span className="visually-hidden">Actions</span>,
      align: 'end',
      cell: queue => <Actions queue={queue} onEdit={onEdit} onDelete={onDelete} />,
    },
  ]
}

// A bar for the taken part of the permits.
function Load({ queue: { in_flight: inFlight, max_concurrent: max, ordered } }: { queue: Queue }): ReactNode {
  const permits = ordered ? 1 : max
  if (permits === null) return formatCount(inFlight)
  const percent = Math.min(100, Math.round((inFlight / permits) * 100))
  return (
    <span className={styles.load}>
      {formatCount(inFlight)} of {formatCount(permits)}
      <span className={styles.bar} aria-hidden="true">
        <span style={{ width: `${percent}%` }} />
      </span>
    </span>
  )
}

function Actions({ queue, onEdit, onDelete }: { queue: Queue; onEdit: OnQueue; onDelete: OnQueue }): ReactNode {
  const { workspace } = useWorkspace()
  const refusal = useRefusal('queue.write')
  const deleteRefusal = useRefusal('queue.delete')
  const client = useQueryClient()
  const toast = useToast()
  const isPaused = queue.paused_at !== null
  const { mutate, isPending } = useMutation({
    mutationFn: () => pauseQueue(workspace.id, queue.name, !isPaused),
    onSuccess: () => toast(isPaused ? `${queue.name} resumed` : `${queue.name} paused`),
    onError: error => toast(messageOf(error), 'bad'),
    onSettled: () => client.invalidateQueries({ queryKey: ['queues', workspace.id] }),
  })
  const Icon = isPaused ? Play : Pause
  return (
    <span className={styles.actions}>
      <IconButton
        label={`${isPaused ? 'Resume' : 'Pause'} ${queue.name}`}
        icon={<Icon size={16} />}
        refusal={refusal}
        isPending={isPending}
        onClick={() => mutate()}
      />
      <IconButton
        label={`Edit ${queue.name}`}
        icon={<Pencil size={16} />}
        refusal={refusal}
        onClick={() => onEdit(queue)}
      />
      <IconButton
        label={`Delete ${queue.name}`}
        icon={<Trash2 size={16} />}
        refusal={deleteRefusal}
        onClick={() => onDelete(queue)}
      />
    </span>
  )
}

/** Returns the limits of a queue in words. */
export function limitsText({
  max_concurrent: max,
  rate_limit: rate,
  ordered,
}: Pick<Queue, 'max_concurrent' | 'rate_limit' | 'ordered'>): string {
  const limits = [
    ...(max === null ? [] : [`${formatCount(max)} at a time`]),
    ...(rate === null ? [] : [`${formatCount(rate.count)} per ${formatDuration(rate.period_ms)}`]),
    ...(ordered ? ['In order'] : []),
  ]
  return limits.join(', ') || 'None'
}
