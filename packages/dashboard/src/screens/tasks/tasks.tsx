import type { Task } from '@belfry/contract/task'
import { isTerminal, stateReasons, taskStates } from '@belfry/domain/task-state'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Ban, RotateCw, Timer } from 'lucide-react'
import { useState } from 'react'
import { call, type Query } from '../../api/call.ts'
import { keepWithin, pagesOf, queryOf } from '../../api/queries.ts'
import { acceptedFilters } from '../../layout/accepted-filters.ts'
import { ConfirmButton } from '../../layout/change-buttons.tsx'
import { CronJobFilter } from '../../layout/cron-job-filter.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { sourceNames, sourceOptions } from '../../layout/source-options.ts'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { FilterBar, type Filters, MultiFilter, SearchFilter, useFilters } from '../../ui/filter-bar.tsx'
import { formatCounted, formatThings } from '../../ui/format-amount.ts'
import { selectionColumn } from '../../ui/selection-column.tsx'
import { StateBadge } from '../../ui/state-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import { wordsOf } from '../../ui/words-of.ts'
import { customRange, rangeNames, toLogQuery } from '../log/log-filters.ts'
import { RangeFilter, useRangeQuery } from '../log/range-filter.tsx'
import { ActOnMatching } from './act-on-matching.tsx'
import { BulkProgress } from './bulk-progress.tsx'
import { doEach } from './do-each.ts'
import { reasons } from './task-history.ts'
import styles from './tasks.module.css'

const states = taskStates.map(value => ({ value, label: wordsOf(value) }))
const filterNames = [
  'name',
  'label',
  'state',
  'state_reason',
  'source',
  'cronjob_id',
  'queue',
  'host',
  'callback_of',
  ...rangeNames,
  'occurrences',
] as const
const reasonOptions = stateReasons.map(value => ({ value, label: reasons[value] }))
const refreshMs = 10_000
// It may read thousands of waiting tasks.
const countMs = 60_000
// Longer lists are not refreshed, because that would read every page again.
const maxPagesToRefresh = 2

type TaskFilters = Filters<(typeof filterNames)[number]>

export function Tasks() {
  const { workspace, to } = useWorkspace()
  const filters = useFilters(filterNames, acceptedFilters)
  const { state, cronjob_id, occurrences } = filters.values
  const given = useRangeQuery(filters.values, toTaskQuery)
  // A filter by state or by cron job also shows the upcoming occurrences of cron jobs.
  const hidesUpcoming = !state && !cronjob_id && occurrences === undefined
  const matching = matchingFilter(given, hidesUpcoming)
  const query = { ...given, ...(hidesUpcoming ? { upcoming: 'false' } : {}) }
  const operation = useFilters(['operation'])
  const mayReplay = useRefusal('task.write') === null
  const mayCancel = useRefusal('task.delete') === null
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const list = useInfiniteQuery({
    ...pagesOf('listTasks', { ws: workspace.id, query }),
    // Keeps the current rows until the rows of a new filter have arrived.
    placeholderData: keepWithin(workspace.id),
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) <= maxPagesToRefresh ? refreshMs : false),
  })
  const tasks = list.data?.items ?? []
  const { data: upcoming } = useQuery({
    ...queryOf('countTasks', { ws: workspace.id, query: { ...filterOf(given), state: 'pending', upcoming: 'true' } }),
    enabled: hidesUpcoming,
    refetchInterval: countMs,
  })
  const hidden = hidesUpcoming ? (upcoming?.count ?? 0) : 0
  const maySelect = mayReplay || mayCancel
  const selection = selectionColumn({ rows: tasks, selected, onChange: setSelected })
  return (
    <ResourceList
      title="Tasks"
      description="All tasks, including those of cron jobs and events, newest first."
      create={{ label: 'New task', to: to.newTask(), right: 'task.write' }}
      filters={
        <>
          <BulkProgress filter={operation} />
          <TaskFilterBar filters={filters} />
          {matching && list.data?.items.length !== 0 && (
            <ActOnMatching states={state ?? []} filter={matching} operation={operation} />
          )}
          {hidden > 0 && (
            <p className={styles.hidden}>
              {hidden === 1
                ? 'One upcoming occurrence'
                : `${formatCounted(hidden, upcoming?.is_capped ?? false)} upcoming occurrences`}{' '}
              of cron jobs not shown.{' '}
              <Button size="small" onClick={() => filters.set('occurrences', 'upcoming')}>
                Show
              </Button>
            </p>
          )}
        </>
      }
      list={list}
      rowLink={task => to.task(task.id)}
      columns={maySelect ? [selection, ...taskColumns] : taskColumns}
      onClear={filters.isSet && filters.clear}
      empty={
        hidden > 0
          ? { icon: Timer, title: 'Only upcoming occurrences', actions: null }
          : {
              icon: Timer,
              title: 'No tasks yet',
              children: (
                <>
                  A task is one request that Belfry sends at a set time and retries until it succeeds or runs out of
                  retries. Create one here, or from your code with <code>POST /api/v1/scheduler/tasks</code>. Cron jobs
                  and events create tasks too.
                </>
              ),
            }
      }
    >
      {maySelect && (
        <BulkBar selected={tasks.filter(({ id }) => selected.has(id))} onDone={() => setSelected(new Set())} />
      )}
    </ResourceList>
  )
}

/** Converts the filters to the query of the list. A preset range ends now, because a later task is not due yet. */
export function toTaskQuery({ occurrences: _, ...values }: TaskFilters['values'], now: Date, timeZone: string): Query {
  const end = values.range && values.range[0] !== customRange ? { to: now.toISOString() } : {}
  return { ...end, ...toLogQuery(values, now, timeZone) }
}

/** Returns the filter of an action on all matching tasks. Null if no filter has an effect: all tasks would match. */
export function matchingFilter(given: Query, hidesUpcoming: boolean) {
  if (Object.keys(given).length === 0) return null
  return { ...filterOf(given), ...(hidesUpcoming ? { upcoming: 'false' } : {}) }
}

// Returns the filter of the list without the states, as the API counts and ends tasks by it.
function filterOf({ state: _, name, ...others }: Query): Query {
  return { ...others, ...(name ? { name: [name].flat()[0] } : {}) }
}

const taskColumns: ReadonlyArray<Column<Task>> = [
  { header: 'Name', isLead: true, sortBy: task => task.name, cell: task => task.name },
  {
    header: 'State',
    sortBy: task => task.state,
    cell: ({ state, state_reason: reason }) => (
      <span className={styles.state}>
        <StateBadge state={state} />
        {reason && <span className={styles.faint}>{reasons[reason].replace(/^\w+: /, '')}</span>}
      </span>
    ),
  },
  {
    header: 'Due',
    sortBy: task => Date.parse(task.next_retry_at ?? task.execute_at),
    cell: task => <RelativeTime at={task.next_retry_at ?? task.execute_at} />,
  },
  {
    header: 'Target',
    isExtra: true,
    cell: task => (
      <span className={styles.url} title={task.url}>
        <b>{task.method}</b> {task.url.replace(/^https?:\/\//, '')}
      </span>
    ),
  },
  { header: 'Source', isExtra: true, cell: task => sourceNames[task.source] },
  { header: 'Runs', align: 'end', isExtra: true, sortBy: task => task.attempts, cell: task => task.attempts },
]

function TaskFilterBar({ filters }: { filters: TaskFilters }) {
  return (
    <FilterBar filters={filters} search={{ name: 'name', label: 'Name starts with' }}>
      <MultiFilter filters={filters} name="state" label="State" all="All states" options={states} />
      <MultiFilter filters={filters} name="state_reason" label="Reason" all="All reasons" options={reasonOptions} />
      <MultiFilter filters={filters} name="source" label="Source" all="All sources" options={sourceOptions} />
      <SearchFilter filters={filters} name="label" label="Label" />
      <SearchFilter filters={filters} name="queue" label="Queue" />
      <SearchFilter filters={filters} name="host" label="Host" />
      <CronJobFilter filters={filters} />
      <RangeFilter filters={filters} />
    </FilterBar>
  )
}

type BulkBarProps = { selected: readonly Task[]; onDone(): void }

/** Cancels or replays the selected tasks. Each action applies to the tasks whose state allows it. */
function BulkBar({ selected, onDone }: BulkBarProps) {
  const { workspace } = useWorkspace()
  const toast = useToast()
  if (selected.length === 0) return null
  const actions = [
    {
      verb: 'Cancel',
      done: 'cancelled',
      icon: <Ban size={15} />,
      right: 'task.delete',
      description: 'They will not be delivered. Each can be replayed later.',
      isDangerous: true,
      tasks: selected.filter(({ state }) => state === 'pending'),
      none: 'None of the selected tasks is pending.',
      act: ({ id }: Task) => call('cancelTask', { ws: workspace.id, task: id }),
    },
    {
      verb: 'Replay',
      done: 'replayed',
      icon: <RotateCw size={15} />,
      right: 'task.write',
      description: 'Each one is sent again immediately as a new task.',
      isDangerous: false,
      tasks: selected.filter(({ state }) => isTerminal(state)),
      none: 'None of the selected tasks has finished.',
      act: ({ id }: Task) => call('replayTask', { ws: workspace.id, task: id, body: {} }),
    },
  ] as const
  return (
    <section className={styles.bulk} aria-label="Selected tasks">
      <span aria-live="polite">{formatThings(selected.length, 'task')} selected</span>
      {actions.map(({ verb, done, tasks, none, act, ...button }) => (
        <ConfirmButton
          key={verb}
          {...button}
          text={`${verb} ${tasks.length}`}
          title={`${verb} ${formatThings(tasks.length, 'task')}?`}
          action={`Yes, ${verb.toLowerCase()}`}
          refusal={tasks.length === 0 ? none : null}
          run={() => doEach(tasks, act)}
          onDone={({ succeeded, failed, error }) => {
            const rest = failed > 0 ? ` ${formatThings(failed, 'task')} failed: ${error}` : ''
            toast(`${formatThings(succeeded, 'task')} ${done}.${rest}`, failed > 0 ? 'bad' : 'good')
            onDone()
          }}
        />
      ))}
      <Button kind="quiet" onClick={onDone}>
        Clear selection
      </Button>
    </section>
  )
}
