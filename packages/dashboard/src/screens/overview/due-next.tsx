import type { Upcoming } from '@belfry/contract/overview'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { useWorkspace } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Chart, type ChartData } from '../../ui/chart.tsx'
import { classNames } from '../../ui/class-names.ts'
import { formatCounted } from '../../ui/format-amount.ts'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './overview.module.css'

/** Lists the next due tasks, and charts the next hour and day. */
export function DueNext({ upcoming }: { upcoming: UseQueryResult<Upcoming> }): ReactNode {
  const { data, error, refetch } = upcoming
  const hour = useMemo(() => barsOf(data?.hour), [data])
  const day = useMemo(() => barsOf(data?.day), [data])
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  const isIdle = data?.day.every(({ count }) => count === 0)
  const note = data?.is_capped ? 'Partial count; actual numbers are higher.' : undefined
  return (
    <div className={classNames(styles.due, isIdle && styles.idle)}>
      <Card label="Due next">
        <h2>Due next</h2>
        {data ? <NextList upcoming={data} /> : <Skeleton />}
      </Card>
      {!isIdle && (
        <Card label="Timeline">
          <div className={styles.timelines}>
            <Chart title="Next hour" kind="bars" data={hour} height={84} />
            <Chart title="Next 24 hours" kind="bars" data={day} height={84} note={note} />
          </div>
        </Card>
      )}
    </div>
  )
}

function NextList({ upcoming }: { upcoming: Upcoming }): ReactNode {
  const { to } = useWorkspace()
  return (
    <>
      {upcoming.overdue > 0 && (
        <p className={styles.overdue}>
          <Link to={to.tasks('?state=pending&state=retrying')}>
            {formatCounted(upcoming.overdue, upcoming.is_capped)} due now
          </Link>
          , waiting for {upcoming.blocked === upcoming.overdue ? 'their hosts' : 'delivery'}
          {upcoming.blocked > 0 && upcoming.blocked < upcoming.overdue && (
            <>
              ; {formatCounted(upcoming.blocked, upcoming.is_capped)} of them wait for their{' '}
              <Link to={to.targets()}>hosts</Link>
            </>
          )}
        </p>
      )}
      {upcoming.next.length === 0 && <p className={styles.faint}>Nothing is due in the next 24 hours.</p>}
      <ul className={styles.next}>
        {firstOfEach(upcoming.next).map(({ at, task_id, cronjob_id, name, count }) => (
          <li key={`${at} ${task_id ?? cronjob_id}`}>
            <Link to={task_id ? to.task(task_id) : to.cronJob(cronjob_id ?? '')}>{name}</Link>
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

/** Returns the first occurrence of each cron job, with the number of those that are listed. */
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

function barsOf(counts: Upcoming['hour'] | undefined): ChartData {
  return {
    at: (counts ?? []).map(({ at }) => Date.parse(at)),
    series: [{ label: 'Due', values: (counts ?? []).map(({ count }) => count) }],
  }
}
