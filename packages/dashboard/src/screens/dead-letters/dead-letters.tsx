import type { Task } from '@belfry/contract/task'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { RotateCcw, Skull, Trash2 } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { useNavigate } from 'react-router'
import { deadLettersQuery } from '../../api/tasks.ts'
import { acceptedFilters } from '../../layout/accepted-filters.ts'
import type { WorkspacePaths } from '../../paths.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button, Link } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { selectionColumn } from '../../ui/selection-column.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useDisplayZone } from '../../ui/time-style.ts'
import { useToast } from '../../ui/toast.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { BulkProgress } from '../tasks/bulk-progress.tsx'
import styles from './dead-letters.module.css'
import { deadLetterFilters, FilterFields, toDeadLetterFilter } from './filter-fields.tsx'
import { SettleDialog, type Settlement } from './settle-dialog.tsx'

/** Lists the tasks that could not be delivered, to be replayed or discarded. */
export function DeadLetters(): ReactNode {
  const { workspace, to } = useWorkspace()
  const filters = useFilters(deadLetterFilters, acceptedFilters)
  const operation = useFilters(['operation'])
  const key = JSON.stringify(filters.values)
  const zone = useDisplayZone()
  const filter = useMemo(() => toDeadLetterFilter(JSON.parse(key), new Date(), zone), [key, zone])
  const list = useInfiniteQuery({
    ...deadLettersQuery(workspace.id, { ...filter, limit: '50' }),
    refetchInterval: 10_000,
  })
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [settlement, setSettlement] = useState<Settlement | null>(null)
  const client = useQueryClient()
  const toast = useToast()
  const navigate = useNavigate()
  const rows = list.data?.items
  // Rows that have left the list no longer count.
  const chosen = useMemo(() => (rows ?? []).filter(({ id }) => selected.has(id)), [rows, selected])
  const columns = useMemo(
    () => [selectionColumn({ rows: rows ?? [], selected, onChange: setSelected }), ...deadLetterColumns(to)],
    [rows, selected, to],
  )
  const isFiltered = Object.keys(filter).length > 0
  return (
    <>
      <PageHeader
        title="Dead letters"
        description="Tasks that failed after all retries. Replay sends a task again as a new one. Discard only removes it from this list."
      />
      <BulkProgress filter={operation} />
      <FilterFields filters={filters} />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {rows?.length === 0 && !list.hasNextPage ? (
        <NoDeadLetters isFiltered={isFiltered} onClear={filters.clear} />
      ) : (
        <>
          <Actions
            chosen={chosen}
            isFiltered={isFiltered}
            hasRows={Boolean(rows?.length)}
            filter={filter}
            onSettle={setSettlement}
          />
          <Table
            label="Dead letters"
            columns={columns}
            rows={rows}
            rowKey={task => task.id}
            rowLink={task => to.task(task.id)}
            sorting={{ by: 'failed', isDescending: true }}
          />
          <LoadMore {...list} />
        </>
      )}
      {settlement && (
        <SettleDialog
          settlement={settlement}
          onClose={() => setSettlement(null)}
          onDone={async ({ count, operation: started }) => {
            setSettlement(null)
            setSelected(new Set())
            if (started) operation.set('operation', started.id)
            else
              toast(
                `${count} ${count === 1 ? 'dead letter' : 'dead letters'} ${settlement.action === 'replay' ? 'replayed' : 'discarded'}`,
                'good',
                settlement.action === 'replay' ? { label: 'Open log', run: () => void navigate(to.log()) } : undefined,
              )
            await client.invalidateQueries({ queryKey: ['dead-letters', workspace.id] })
          }}
        />
      )}
    </>
  )
}

type ActionsProps = {
  chosen: readonly Task[]
  isFiltered: boolean
  hasRows: boolean
  filter: ReturnType<typeof toDeadLetterFilter>
  onSettle(settlement: Settlement): void
}

function Actions({ chosen, isFiltered, hasRows, filter, onSettle }: ActionsProps): ReactNode {
  const replayRefusal = useRefusal('dead_letter.replay')
  const discardRefusal = useRefusal('dead_letter.discard')
  const nothing = hasRows ? null : 'There are no dead letters.'
  const scope = chosen.length > 0 ? `${chosen.length} selected` : isFiltered ? 'all matching' : 'all'
  const settle = (action: Settlement['action']) =>
    onSettle(chosen.length > 0 ? { action, ids: chosen.map(({ id }) => id), chosen } : { action, filter })
  return (
    <div className={styles.actions}>
      <Button
        icon={<RotateCcw size={14} aria-hidden="true" />}
        refusal={replayRefusal ?? nothing}
        onClick={() => settle('replay')}
      >
        Replay {scope}
      </Button>
      <Button
        kind="danger"
        icon={<Trash2 size={14} aria-hidden="true" />}
        refusal={discardRefusal ?? nothing}
        onClick={() => settle('discard')}
      >
        Discard {scope}
      </Button>
    </div>
  )
}

function NoDeadLetters({ isFiltered, onClear }: { isFiltered: boolean; onClear(): void }): ReactNode {
  if (isFiltered) {
    return <EmptyState title="No matching dead letters" actions={<Button onClick={onClear}>Clear filters</Button>} />
  }
  return (
    <EmptyState icon={Skull} title="No dead letters">
      Tasks appear here when their last retry fails, or immediately when retrying cannot help, such as after a 410
      response. You can replay them once the target works again.
    </EmptyState>
  )
}

/** Returns the columns of the list. */
function deadLetterColumns(to: WorkspacePaths): ReadonlyArray<Column<Task>> {
  return [
    { id: 'task', header: 'Task', isLead: true, sortBy: ({ name }) => name, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      id: 'reason',
      header: 'Last failure',
      cell: ({ last_run: run, state_reason }) =>
        run ? (
          <Link to={to.run(run.id)}>{run.response_status ?? (run.error_code ?? 'failed').replaceAll('_', ' ')}</Link>
        ) : (
          (state_reason ?? '–')
        ),
    },
    {
      id: 'target',
      header: 'Target',
      isExtra: true,
      sortBy: ({ url }) => url,
      cell: ({ method, url }) => (
        <span className={styles.target} title={url}>
          {method} <bdi>{url}</bdi>
        </span>
      ),
    },
    {
      id: 'attempts',
      header: 'Runs',
      align: 'end',
      isExtra: true,
      sortBy: ({ attempts }) => attempts,
      cell: ({ attempts }) => attempts,
    },
    {
      id: 'failed',
      header: 'Failed',
      align: 'end',
      sortBy: ({ finished_at, updated_at }) => Date.parse(finished_at ?? updated_at),
      cell: ({ finished_at, updated_at }) => <RelativeTime at={finished_at ?? updated_at} />,
    },
  ]
}
