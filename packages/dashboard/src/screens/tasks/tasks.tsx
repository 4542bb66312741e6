import type { Task } from '@belfry/contract'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Plus, Timer } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { cronJobsQuery } from '../../api/cron-jobs.ts'
import { tasksQuery } from '../../api/tasks.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { FilterBar, SearchFilter, SelectFilter } from '../../ui/filter-bar.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeFilter } from '../../ui/time-filter.tsx'
import { type Filters, useFilters } from '../../ui/use-filters.ts'
import { BulkBar } from './bulk-bar.tsx'
import { taskColumns } from './task-columns.tsx'

const states = [
  { value: 'pending', label: 'Pending' },
  { value: 'processing', label: 'Processing' },
  { value: 'retrying', label: 'Retrying' },
  { value: 'success', label: 'Success' },
  { value: 'dead', label: 'Dead' },
  { value: 'cancelled', label: 'Cancelled' },
]
const sources = [
  { value: 'task', label: 'Tasks of their own' },
  { value: 'cron', label: 'Of cron jobs' },
  { value: 'event', label: 'Of events' },
]
const filterNames = ['name', 'state', 'source', 'cronjob_id', 'from', 'to'] as const
const refreshMs = 10_000
// Beyond that, reading all of it again would be more than a glance is worth.
const mostPagesToRefresh = 2

type TaskFilters = Filters<(typeof filterNames)[number]>

export function Tasks(): ReactNode {
  const { workspace, to } = useWorkspace()
  const filters = useFilters(filterNames)
  const refusal = useRefusal('task.write')
  const mayCancel = useRefusal('task.delete') === null
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const list = useInfiniteQuery({
    ...tasksQuery(workspace.id, filters.values),
    // Another filter takes the place of what is shown when its tasks are there.
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) <= mostPagesToRefresh ? refreshMs : false),
  })
  const tasks = list.data?.items
  const selected = useMemo(() => (tasks ?? []).filter(({ id }) => chosen.has(id)), [tasks, chosen])
  const maySelect = refusal === null || mayCancel
  const columns = useMemo(
    () => taskColumns(maySelect ? { all: tasks ?? [], chosen, setChosen } : null),
    [maySelect, tasks, chosen],
  )
  const create = (
    <ButtonLink to={to.newTask()} kind="primary" icon={<Plus size={15} />} refusal={refusal}>
      New task
    </ButtonLink>
  )
  const isEmpty = tasks?.length === 0
  return (
    <>
      <PageHeader title="Tasks" description="Every dispatch, whatever asked for it, newest first." actions={create} />
      <TaskFilterBar workspaceId={workspace.id} filters={filters} />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {!list.error && isEmpty && list.hasNextPage && <p>None of the newest match. Older ones may.</p>}
      {!list.error && isEmpty && !list.hasNextPage && <NoTasks isFiltered={filters.isSet} create={create} />}
      {!list.error && !isEmpty && (
        <Table
          label="Tasks"
          columns={columns}
          rows={tasks}
          rowKey={task => task.id}
          rowLink={(task: Task) => to.task(task.id)}
        />
      )}
      <LoadMore {...list} />
      {maySelect && <BulkBar workspaceId={workspace.id} selected={selected} onDone={() => setChosen(new Set())} />}
    </>
  )
}

function TaskFilterBar({ workspaceId, filters }: { workspaceId: string; filters: TaskFilters }): ReactNode {
  const { data: cronJobs } = useInfiniteQuery(cronJobsQuery(workspaceId, { limit: 100 }))
  const options = (cronJobs?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const chosen = filters.first('cronjob_id')
  const isListed = chosen === '' || options.some(({ value }) => value === chosen)
  return (
    <FilterBar filters={filters}>
      <SearchFilter filters={filters} name="name" label="Name begins with" />
      <SelectFilter filters={filters} name="state" label="State" all="Every state" options={states} />
      <SelectFilter filters={filters} name="source" label="Source" all="Every source" options={sources} />
      {(options.length > 0 || !isListed) && (
        <SelectFilter
          filters={filters}
          name="cronjob_id"
          label="Cron job"
          all="Every cron job"
          options={isListed ? options : [...options, { value: chosen, label: chosen }]}
        />
      )}
      <TimeFilter filters={filters} name="from" label="Due from" />
      <TimeFilter filters={filters} name="to" label="before" />
    </FilterBar>
  )
}

function NoTasks({ isFiltered, create }: { isFiltered: boolean; create: ReactNode }): ReactNode {
  if (isFiltered) return <EmptyState title="No task matches">Take a filter away to see more.</EmptyState>
  return (
    <EmptyState icon={<Timer size={24} aria-hidden="true" />} title="No tasks yet" actions={create}>
      A task is one request that Belfry sends at its time, and again until it succeeds or its retries are used up. Make
      one here, or from your code with <code>POST /api/v1/scheduler/tasks</code>. Cron jobs and events make tasks too.
    </EmptyState>
  )
}
