import type { OverviewRange } from '@belfry/contract/overview'
import { useQuery } from '@tanstack/react-query'
import { Plus, SquareActivity } from 'lucide-react'
import type { ReactNode } from 'react'
import { overviewQuery, upcomingQuery } from '../../api/overview.ts'
import { Allowed, useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Select } from '../../ui/field.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { DueNext } from './due-next.tsx'
import { FailureGroups } from './failure-groups.tsx'
import { Figures } from './figures.tsx'
import { OpenCircuits } from './open-circuits.tsx'
import styles from './overview.module.css'
import { RunCharts } from './run-charts.tsx'
import { UsageCard } from './usage-card.tsx'

const ranges: ReadonlyArray<{ value: OverviewRange; label: string }> = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
]

/** The recent activity of a workspace, and its due tasks. */
export function Overview(): ReactNode {
  const { workspace, to } = useWorkspace()
  const filters = useFilters(['range'])
  const range = ranges.find(({ value }) => value === filters.first('range'))?.value ?? '24h'
  const refusal = useRefusal('task.write')
  const past = useQuery(overviewQuery(workspace.id, range))
  const upcoming = useQuery(upcomingQuery(workspace.id))
  const isNew = past.data?.runs.total === 0 && upcoming.data?.next.length === 0 && upcoming.data.overdue === 0
  return (
    <>
      <PageHeader
        title="Overview"
        description={`Recent activity and upcoming tasks in ${workspace.name}.`}
        actions={
          <>
            <div>
              <Select
                aria-label="Range"
                value={range}
                onChange={event => filters.set('range', event.target.value === '24h' ? '' : event.target.value)}
                options={ranges}
              />
            </div>
            <ButtonLink to={to.newTask()} kind="primary" icon={<Plus size={15} />} refusal={refusal}>
              New task
            </ButtonLink>
          </>
        }
      />
      {past.error && <Problem error={past.error} onRetry={() => void past.refetch()} />}
      <div className={styles.page}>
        {isNew && <NoActivity />}
        {!past.error && !isNew && <Figures overview={past.data} />}
        <OpenCircuits />
        {!past.error && <FailureGroups from={past.data?.from} />}
        {!past.error && !isNew && <RunCharts overview={past.data} />}
        {!isNew && <DueNext upcoming={upcoming} />}
        <Allowed to="usage.read">
          <UsageCard />
        </Allowed>
      </div>
    </>
  )
}

function NoActivity(): ReactNode {
  const { to } = useWorkspace()
  return (
    <EmptyState
      icon={SquareActivity}
      title="No runs in this period, and nothing is due"
      actions={<ButtonLink to={to.firstSteps()}>First steps</ButtonLink>}
    >
      Results and lag appear here once tasks have run. The first steps take you to your first webhook in a minute.
    </EmptyState>
  )
}
