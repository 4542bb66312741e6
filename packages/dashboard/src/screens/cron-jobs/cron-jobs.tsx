import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { CalendarDays, Clock } from 'lucide-react'
import { type Result, read } from '../../api/call.ts'
import { keepWithin, pagesOf } from '../../api/queries.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { optionsOf } from '../../ui/field.tsx'
import { FilterBar, SelectFilter, useFilters } from '../../ui/filter-bar.tsx'
import { formatThings } from '../../ui/format-amount.ts'
import { StateBadge } from '../../ui/state-badge.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './cron-jobs.module.css'

const statuses = optionsOf({ active: 'Active', paused: 'Paused', ended: 'Ended' })
const refreshMs = 15_000

export function CronJobs() {
  const { workspace, to } = useWorkspace()
  const filters = useFilters(['name', 'status'])
  const list = useInfiniteQuery({
    ...pagesOf('listCronJobs', { ws: workspace.id, query: filters.values }),
    placeholderData: keepWithin(workspace.id),
    refetchInterval: refreshMs,
  })
  const recent = useRecentRuns(workspace.id, list.data?.items.map(({ id }) => id) ?? [])
  return (
    <ResourceList
      title="Cron jobs"
      description="Requests on a recurring schedule, each in its own time zone."
      buttons={
        <ButtonLink to={to.upcoming()} icon={<CalendarDays size={15} />}>
          Coming week
        </ButtonLink>
      }
      create={{ label: 'New cron job', to: to.newCronJob(), right: 'cron_job.write' }}
      filters={
        <FilterBar filters={filters} search={{ name: 'name', label: 'Name starts with' }}>
          <SelectFilter filters={filters} name="status" label="Status" all="All statuses" options={statuses} />
        </FilterBar>
      }
      list={list}
      rowLink={job => to.cronJob(job.id)}
      columns={[
        { header: 'Name', sortBy: job => job.name, cell: job => job.name },
        {
          header: 'Schedule',
          isExtra: true,
          cell: job => (
            <div className={styles.schedule}>
              <code>{job.cron}</code>
              <span>
                {job.description}, {job.timezone}
              </span>
            </div>
          ),
        },
        {
          header: 'Status',
          sortBy: job => job.status,
          cell: ({ status, failing_since: failingSince }) => (
            <>
              <StateBadge state={status} />
              {failingSince && (
                <span className={styles.failing}>
                  Failing since <RelativeTime at={failingSince} />
                </span>
              )}
            </>
          ),
        },
        {
          header: 'Next run',
          sortBy: job => (job.next_run_at ? Date.parse(job.next_run_at) : Number.POSITIVE_INFINITY),
          cell: job => (job.next_run_at ? <RelativeTime at={job.next_run_at} jobZone={job.timezone} /> : '–'),
        },
        {
          header: 'Last run',
          isExtra: true,
          cell: job =>
            job.last_run ? (
              <div className={styles.last}>
                <StateBadge state={job.last_run.status} />{' '}
                <RelativeTime at={job.last_run.finished_at} jobZone={job.timezone} />
              </div>
            ) : (
              '–'
            ),
        },
        { header: 'Recent runs', isExtra: true, cell: job => <RunSpark runs={recent?.get(job.id)} /> },
      ]}
      onClear={filters.isSet && filters.clear}
      empty={{
        icon: Clock,
        title: 'No cron jobs yet',
        children:
          'A cron job sends the same request on a schedule, such as every five minutes or on weekdays at 9:00 in Berlin. While you type the expression, a preview explains it and lists the next runs.',
      }}
    />
  )
}

type RecentRun = Result<'listRecentRuns'>['data'][number]['runs'][number]

// The limit of the API.
const maxIdsPerCall = 20

/** Returns the latest runs of cron jobs, by cron job id. */
function useRecentRuns(ws: string, cronJobIds: readonly string[]) {
  const { data } = useQuery({
    queryKey: ['listRecentRuns', ws, cronJobIds],
    queryFn: async ({ signal }) => {
      const parts = Array.from({ length: Math.ceil(cronJobIds.length / maxIdsPerCall) }, (_, index) =>
        cronJobIds.slice(index * maxIdsPerCall, (index + 1) * maxIdsPerCall),
      )
      const pages = await Promise.all(
        parts.map(cronjob_id => read('listRecentRuns', { ws, query: { cronjob_id }, signal })),
      )
      return new Map(pages.flatMap(({ data }) => data.map(({ cronjob_id, runs }) => [cronjob_id, runs] as const)))
    },
    enabled: cronJobIds.length > 0,
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
  })
  return data
}

const [width, height, step] = [96, 22, 4]
const dot = { high: 2, fill: 'var(--line-strong)' }

/** A bar for each recent run, as high as its duration. Failed runs are red and full height; dots fill the rest. */
function RunSpark({ runs }: { runs: readonly RecentRun[] | undefined }) {
  if (!runs || runs.length === 0) return '–'
  const maxDuration = Math.max(...runs.map(({ duration_ms }) => duration_ms), 1)
  const failed = runs.filter(({ status }) => status === 'failed').length
  const dots = Array.from({ length: Math.max(0, width / step - runs.length) }, () => dot)
  const bars = runs.map(({ status, duration_ms }) =>
    status === 'failed'
      ? { high: height, fill: 'var(--bad)' }
      : { high: 5 + Math.round((duration_ms / maxDuration) * (height - 9)), fill: 'var(--accent)' },
  )
  return (
    <svg
      width={width}
      height={height}
      role="img"
      aria-label={`${formatThings(runs.length, 'recent run')}, ${failed} failed`}
    >
      {[...dots, ...bars].map(({ high, fill }, index) => (
        <rect key={index} x={index * step} y={height - high} width={step - 1} height={high} rx={1} fill={fill} />
      ))}
    </svg>
  )
}
