import type { OverviewRange, Overview as RecentRuns, Upcoming } from '@belfry/contract/overview'
import { useQuery } from '@tanstack/react-query'
import { Plus, SquareActivity } from 'lucide-react'
import { queryOf } from '../../api/queries.ts'
import { FailureGroups } from '../../layout/failure-groups.tsx'
import { paths } from '../../paths.ts'
import { useOrganization, useRefusal, useWorkspace } from '../../session/scope.ts'
import { ButtonLink, Link } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Chart, type ChartData } from '../../ui/chart.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { optionsOf, Select } from '../../ui/field.tsx'
import { useFilters } from '../../ui/filter-bar.tsx'
import { formatBytes, formatCount, formatCounted, formatRate, formatValue } from '../../ui/format-amount.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Meter } from '../../ui/meter.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './overview.module.css'

const ranges = optionsOf({
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
} satisfies Record<OverviewRange, string>)

export function Overview() {
  const { workspace, to } = useWorkspace()
  const filters = useFilters(['range'])
  const range = ranges.find(({ value }) => value === filters.first('range'))?.value ?? '24h'
  const refusal = useRefusal('task.write')
  const maySeeUsage = useRefusal('usage.read') === null
  const past = useQuery(queryOf('getOverview', { ws: workspace.id, query: { range } }))
  const upcoming = useQuery(queryOf('getUpcoming', { ws: workspace.id }))
  const isNew = past.data?.runs.total === 0 && upcoming.data?.next.length === 0 && upcoming.data.overdue === 0
  return (
    <>
      <PageHeader
        title="Overview"
        description="Recent activity and upcoming tasks of the workspace."
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
        {isNew && (
          <EmptyState
            icon={SquareActivity}
            title="No runs in this period, and nothing is due"
            actions={<ButtonLink to={to.firstSteps()}>First steps</ButtonLink>}
          >
            Results and lag appear here once tasks have run. Follow the first steps to send your first webhook.
          </EmptyState>
        )}
        {!past.error && !isNew && <Figures overview={past.data} />}
        {!isNew && (
          <div className={styles.charts}>
            {!past.error && <RunCharts overview={past.data} />}
            <Card label="Due next">
              <h2>Due next</h2>
              <Loaded query={upcoming}>{found => <NextList upcoming={found} />}</Loaded>
            </Card>
          </div>
        )}
        {!past.error && <FailureGroups from={past.data?.from} />}
        {upcoming.data && !isNew && <Timeline upcoming={upcoming.data} />}
        {maySeeUsage && <UsageCard />}
      </div>
    </>
  )
}

function Timeline({ upcoming: { hour, day, is_capped } }: { upcoming: Upcoming }) {
  const { to } = useWorkspace()
  if (day.every(({ count }) => count === 0)) return null
  const note = is_capped ? 'Partial count; actual numbers are higher.' : undefined
  return (
    <Card label="Timeline">
      <div className={styles.timelines}>
        <Chart title="Next hour" kind="bars" data={barsOf(hour)} height={84} />
        <Chart
          title="Next 24 hours"
          kind="bars"
          data={barsOf(day)}
          height={84}
          note={note}
          linkTo={from => to.upcoming(`?at=${new Date(from).toISOString()}`)}
        />
      </div>
    </Card>
  )
}

function NextList({ upcoming }: { upcoming: Upcoming }) {
  const { to } = useWorkspace()
  return (
    <>
      {upcoming.overdue > 0 && (
        <p className={styles.overdue}>
          <Link to={to.tasks('?state=pending&state=retrying')}>
            {formatCounted(upcoming.overdue, upcoming.is_capped)} due now
          </Link>
          , waiting for {upcoming.blocked === upcoming.overdue ? 'their hosts or queues' : 'delivery'}
          {upcoming.blocked > 0 && upcoming.blocked < upcoming.overdue && (
            <>
              ; {formatCounted(upcoming.blocked, upcoming.is_capped)} of them wait for their{' '}
              <Link to={to.hosts()}>hosts</Link> or <Link to={to.queues()}>queues</Link>
            </>
          )}
        </p>
      )}
      {upcoming.next.length === 0 && <p className={styles.faint}>Nothing is due in the next 24 hours.</p>}
      <ul className={styles.next}>
        {firstOfEach(upcoming.next).map(({ at, task_id, cronjob_id, name, count }) => (
          <li key={`${at} ${task_id ?? cronjob_id}`}>
            <Link to={task_id ? to.task(task_id) : to.cronJob(cronjob_id ?? '')} title={name}>
              <bdi>{name}</bdi>
            </Link>
            <span className={styles.time}>
              {cronjob_id && `Cron job${count > 1 ? ` ×${count}` : ''} · `}
              <RelativeTime at={at} />
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

const maxShown = 8

/** Returns the first occurrence of each cron job, with the number of its listed occurrences. */
function firstOfEach(next: Upcoming['next']): Array<Upcoming['next'][number] & { count: number }> {
  const shown = new Map<string, Upcoming['next'][number] & { count: number }>()
  for (const one of next) {
    const key = one.cronjob_id ?? one.task_id ?? one.at
    const first = shown.get(key)
    if (first) first.count += 1
    else shown.set(key, { ...one, count: 1 })
  }
  return [...shown.values()].slice(0, maxShown)
}

function barsOf(counts: Upcoming['hour']): ChartData {
  return {
    at: counts.map(({ at }) => Date.parse(at)),
    series: [{ label: 'Due', values: counts.map(({ count }) => count) }],
  }
}

function UsageCard() {
  const { organization } = useOrganization()
  return (
    <Card label="Usage">
      <div className={styles.head}>
        <h2>{organization.name} this month</h2>
        <Link to={paths.settings(organization.slug, 'usage')}>Usage and limits</Link>
      </div>
      <Loaded query={useQuery(queryOf('getUsage', { org: organization.id }))}>
        {usage => (
          <div className={styles.shares}>
            <Meter title="Executions" {...usage.executions} format={formatCount} />
            <Meter title="Storage" {...usage.storage_bytes} format={formatBytes} />
            <Meter title="Workspaces" {...usage.workspaces} format={formatCount} />
          </div>
        )}
      </Loaded>
    </Card>
  )
}

function Figures({ overview }: { overview: RecentRuns | undefined }) {
  const runs = overview?.runs
  const lag = overview?.lag
  const figures: ReadonlyArray<readonly [label: string, value: string | undefined, hint: string]> = [
    ['Success rate', runs && formatRate(runs.total - runs.failed, runs.total), 'of runs'],
    ['Runs', runs && formatCount(runs.total), 'including retries'],
    ['Failed', runs && formatCount(runs.failed), 'runs'],
    ['Lag p50', lag && formatValue(lag.p50_ms, true), 'from due to start'],
    ['Lag p99', lag && formatValue(lag.p99_ms, true), 'from due to start'],
  ]
  return (
    <dl className={styles.figures}>
      {figures.map(([label, value, hint]) => (
        <div key={label} className={styles.figure}>
          <dt>{label}</dt>
          <dd>
            <strong>{value ?? <Skeleton />}</strong>
            <span>{hint}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

const chartHeight = 190

function RunCharts({ overview }: { overview: RecentRuns | undefined }) {
  const { to } = useWorkspace()
  if (!overview) return ['a', 'b'].map(chart => <div key={chart} className={styles.skeleton} />)
  const { buckets } = overview
  const at = buckets.map(bucket => Date.parse(bucket.at))
  const runs = [
    { label: 'Succeeded', values: buckets.map(({ total, failed }) => total - failed) },
    { label: 'Failed', values: buckets.map(({ failed }) => failed) },
  ]
  const lag = [
    { label: 'p50', values: buckets.map(bucket => bucket.lag_p50_ms) },
    { label: 'p99', values: buckets.map(bucket => bucket.lag_p99_ms), tone: 'warn' as const },
  ]
  const step = formatDuration(overview.bucket_ms)
  const logOf = (from: number, until: number) =>
    to.log(`?${new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(until).toISOString() })}`)
  return (
    <>
      <Card label="Throughput">
        <Chart title={`Runs per ${step}`} kind="bars" data={{ at, series: runs }} height={chartHeight} linkTo={logOf} />
      </Card>
      <Card label="Lag">
        <Chart
          title="Lag from due to start"
          data={{ at, series: lag, isDuration: true }}
          height={chartHeight}
          linkTo={logOf}
        />
      </Card>
    </>
  )
}
