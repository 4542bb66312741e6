import { useInfiniteQuery } from '@tanstack/react-query'
import { RotateCcw, Skull, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { pagesOf } from '../../api/queries.ts'
import { acceptedFilters } from '../../layout/accepted-filters.ts'
import { CronJobFilter } from '../../layout/cron-job-filter.tsx'
import { errorLabels, outcomeText } from '../../layout/error-labels.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { Button, Link } from '../../ui/button.tsx'
import { optionsOf } from '../../ui/field.tsx'
import { FilterBar, type Filters, MultiFilter, SearchFilter, useFilters } from '../../ui/filter-bar.tsx'
import { formatThings } from '../../ui/format-amount.ts'
import { selectionColumn } from '../../ui/selection-column.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import { type LogFilterValues, rangeNames, sharedFilters, statusCodes, toLogQuery } from '../log/log-filters.ts'
import { RangeFilter, useRangeQuery } from '../log/range-filter.tsx'
import { BulkProgress } from '../tasks/bulk-progress.tsx'
import styles from './dead-letters.module.css'
import { type DeadLetterFilter, SettleDialog, type Settlement } from './settle-dialog.tsx'

export function DeadLetters() {
  const { workspace, to } = useWorkspace()
  const filters = useFilters(names, acceptedFilters)
  const operation = useFilters(['operation'])
  const filter = useRangeQuery(filters.values, toDeadLetterFilter)
  const list = useInfiniteQuery({
    ...pagesOf('listDeadLetters', { ws: workspace.id, query: { ...filter, limit: 50 } }),
    refetchInterval: 10_000,
  })
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [settlement, setSettlement] = useState<Settlement | null>(null)
  const toast = useToast()
  const navigate = useNavigate()
  const rows = list.data?.items ?? []
  // Ignores selected rows that have left the list.
  const chosen = rows.filter(({ id }) => selected.has(id))
  const what = chosen.length > 0 ? { chosen } : { filter }
  const isFiltered = Object.keys(filter).length > 0
  const all = isFiltered ? 'all matching' : 'all'
  const scope = chosen.length > 0 ? `${chosen.length} selected` : all
  return (
    <ResourceList
      title="Dead letters"
      description="Tasks that failed after all retries. Replay sends a task again as a new one. Discard only removes it from this list."
      filters={
        <>
          <BulkProgress filter={operation} />
          <FilterFields filters={filters} />
          {rows.length > 0 && <Actions scope={scope} onSettle={action => setSettlement({ action, ...what })} />}
        </>
      }
      list={list}
      rowLink={task => to.task(task.id)}
      columns={[
        selectionColumn({ rows, selected, onChange: setSelected }),
        { header: 'Task', isLead: true, sortBy: ({ name }) => name, cell: ({ name }) => name },
        {
          header: 'Last failure',
          cell: ({ last_run: run, state_reason }) =>
            run ? (
              <Link to={to.run(run.id)}>{outcomeText(run.response_status, run.error_code)}</Link>
            ) : (
              (state_reason ?? '–')
            ),
        },
        {
          header: 'Target',
          isExtra: true,
          sortBy: ({ url }) => url,
          cell: ({ method, url }) => (
            <span className={styles.target} title={url}>
              {method} <bdi>{url}</bdi>
            </span>
          ),
        },
        { header: 'Runs', align: 'end', isExtra: true, sortBy: task => task.attempts, cell: task => task.attempts },
        {
          header: 'Failed',
          align: 'end',
          sortBy: ({ finished_at, updated_at }) => Date.parse(finished_at ?? updated_at),
          cell: ({ finished_at, updated_at }) => <RelativeTime at={finished_at ?? updated_at} />,
        },
      ]}
      sorting={{ by: 'Failed', isDescending: true }}
      onClear={isFiltered && filters.clear}
      empty={{
        icon: Skull,
        title: 'No dead letters',
        children:
          'Tasks appear here when their last retry fails, or immediately when retrying cannot help, such as after a 410 response. You can replay them once the target works again.',
      }}
    >
      {settlement && (
        <SettleDialog
          settlement={settlement}
          onClose={() => setSettlement(null)}
          onDone={({ count, operation: started }) => {
            setSettlement(null)
            setSelected(new Set())
            if (started) operation.set('operation', started.id)
            else
              toast(
                `${formatThings(count, 'dead letter')} ${settlement.action === 'replay' ? 'replayed' : 'discarded'}`,
                'good',
                settlement.action === 'replay' ? { label: 'Open log', run: () => void navigate(to.log()) } : undefined,
              )
          }}
        />
      )}
    </ResourceList>
  )
}

type ActionsProps = { scope: string; onSettle(action: Settlement['action']): void }

function Actions({ scope, onSettle }: ActionsProps) {
  const replayRefusal = useRefusal('dead_letter.replay')
  const discardRefusal = useRefusal('dead_letter.discard')
  return (
    <div className={styles.actions}>
      <Button icon={<RotateCcw size={14} />} refusal={replayRefusal} onClick={() => onSettle('replay')}>
        Replay {scope}
      </Button>
      <Button kind="danger" icon={<Trash2 size={14} />} refusal={discardRefusal} onClick={() => onSettle('discard')}>
        Discard {scope}
      </Button>
    </div>
  )
}

/** The filters of the list in the URL. The API accepts the same ones for bulk actions. */
const names = [...sharedFilters, ...rangeNames] as const

type DeadLetterFilters = (typeof names)[number]

const errors = optionsOf(errorLabels)

/** The filters of the list. The time range is about when a task was due. */
function FilterFields({ filters }: { filters: Filters<DeadLetterFilters> }) {
  return (
    <FilterBar filters={filters} search={{ name: 'name', label: 'Name starts with' }}>
      <SearchFilter filters={filters} name="host" label="Host" />
      <MultiFilter filters={filters} name="error" label="Error" all="All errors" options={errors} />
      <MultiFilter
        filters={filters}
        name="response_status"
        label="Response"
        all="Any status code"
        options={statusCodes}
      />
      <SearchFilter filters={filters} name="topic" label="Exact topic" />
      <SearchFilter filters={filters} name="label" label="Label" />
      <CronJobFilter filters={filters} />
      <RangeFilter filters={filters} />
    </FilterBar>
  )
}

/** Converts the page's filters to the API's filter, for the list and for bulk actions. */
function toDeadLetterFilter(
  { host, error, response_status, ...values }: Filters<DeadLetterFilters>['values'],
  now: Date,
  timeZone: string,
): DeadLetterFilter {
  const query = toLogQuery(values satisfies LogFilterValues, now, timeZone)
  const single = Object.entries(query).map(([name, value]) => [name, String([value].flat()[0])])
  const several = Object.entries({ host, error, response_status }).filter(([, given]) => given)
  return Object.fromEntries([...single, ...several])
}
