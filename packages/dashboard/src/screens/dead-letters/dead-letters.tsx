import type { Task } from '@belfry/contract'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { RotateCcw, Skull, Trash2 } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { deadLettersQuery } from '../../api/dead-letters.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { useToast } from '../../ui/toast.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { deadLetterColumns } from './columns.tsx'
import { deadLetterFilters, toDeadLetterFilter } from './dead-letter-filters.ts'
import styles from './dead-letters.module.css'
import { FilterFields } from './filter-fields.tsx'
import { Operation } from './operation.tsx'
import { SettleDialog, type Settlement } from './settle-dialog.tsx'

/** The tasks that could not be delivered, until somebody sends them again or lets them go. */
export function DeadLetters(): ReactNode {
  const { workspace, to } = useWorkspace()
  const filters = useFilters(deadLetterFilters)
  const operation = useFilters(['operation'])
  const key = JSON.stringify(filters.values)
  const filter = useMemo(() => toDeadLetterFilter(JSON.parse(key), new Date()), [key])
  const list = useInfiniteQuery({
    ...deadLettersQuery(workspace.id, { ...filter, limit: '50' }),
    refetchInterval: 10_000,
  })
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [settlement, setSettlement] = useState<Settlement | null>(null)
  const client = useQueryClient()
  const say = useToast()
  const rows = list.data?.items
  // What has left the list is no longer meant.
  const chosen = useMemo(() => (rows ?? []).filter(({ id }) => selected.has(id)), [rows, selected])
  const columns = useMemo(
    () => deadLetterColumns({ rows: rows ?? [], selected, onChange: setSelected, to }),
    [rows, selected, to],
  )
  const isFiltered = Object.keys(filter).length > 0
  return (
    <>
      <PageHeader
        title="Dead letters"
        description="Tasks whose retries are used up. Replay sends each again as a new task; discard only takes it off this list."
      />
      <Operation filter={operation} />
      <FilterFields filters={filters} />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {rows?.length === 0 && !list.hasNextPage ? (
        <Nothing isFiltered={isFiltered} onClear={filters.clear} />
      ) : (
        <>
          <Actions
            chosen={chosen}
            isFiltered={isFiltered}
            hasRows={Boolean(rows?.length)}
            filter={filter}
            onSettle={setSettlement}
          />
          <div className={styles.list}>
            <Table
              label="Dead letters"
              columns={columns}
              rows={rows}
              rowKey={task => task.id}
              rowLink={task => to.task(task.id)}
            />
          </div>
          <LoadMore {...list} />
        </>
      )}
      {settlement && (
        <SettleDialog
          settlement={settlement}
          onClose={() => setSettlement(null)}
          onDone={async ({ count, operation: begun }) => {
            setSettlement(null)
            setSelected(new Set())
            if (begun) operation.set('operation', begun.id)
            else
              say(
                `${count} ${count === 1 ? 'dead letter' : 'dead letters'} ${settlement.action === 'replay' ? 'replayed' : 'discarded'}.`,
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
  const nothing = hasRows ? null : 'There are none at the moment.'
  const what = chosen.length > 0 ? `${chosen.length} selected` : isFiltered ? 'all that match' : 'all'
  const settle = (action: Settlement['action']) =>
    onSettle(chosen.length > 0 ? { action, ids: chosen.map(({ id }) => id) } : { action, filter })
  return (
    <div className={styles.actions}>
      <Button
        icon={<RotateCcw size={14} aria-hidden="true" />}
        refusal={replayRefusal ?? nothing}
        onClick={() => settle('replay')}
      >
        Replay {what}
      </Button>
      <Button
        kind="danger"
        icon={<Trash2 size={14} aria-hidden="true" />}
        refusal={discardRefusal ?? nothing}
        onClick={() => settle('discard')}
      >
        Discard {what}
      </Button>
    </div>
  )
}

function Nothing({ isFiltered, onClear }: { isFiltered: boolean; onClear(): void }): ReactNode {
  if (isFiltered) {
    return (
      <EmptyState title="No dead letter is like this" actions={<Button onClick={onClear}>Clear the filters</Button>} />
    )
  }
  return (
    <EmptyState icon={<Skull size={22} aria-hidden="true" />} title="No dead letters">
      A task comes here when its last retry has failed, or at once when retrying cannot help, as after an answer of 410.
      Nothing is lost: from here it can be sent again when its target is well.
    </EmptyState>
  )
}
