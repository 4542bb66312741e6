import type { Usage as UsageResource } from '@belfry/contract/usage'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { usageQuery } from '../../api/organizations.ts'
import { useOrganization } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Chart } from '../../ui/chart.tsx'
import { formatBytes, formatCount } from '../../ui/format-amount.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/table.tsx'
import styles from './settings.module.css'
import { Tiers } from './tiers.tsx'

export function Usage(): ReactNode {
  return (
    <>
      <PageHeader
        title="Usage and limits"
        description="An execution is a task whose first run has started. Retries are free. Months are in UTC."
      />
      <Amounts />
      <Tiers />
    </>
  )
}

function Amounts(): ReactNode {
  const { organization } = useOrganization()
  const { data: usage, error, refetch } = useQuery(usageQuery(organization.id))
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  if (!usage) {
    return (
      <Card>
        <Skeleton />
      </Card>
    )
  }
  return (
    <>
      <div className={styles.tiles}>
        <Card>
          <Meter title="Executions this month" {...usage.executions} format={formatCount} />
        </Card>
        <Card>
          <Meter title="Storage" {...usage.storage_bytes} format={formatBytes} />
        </Card>
        <Card>
          <Meter title="Workspaces" {...usage.workspaces} format={formatCount} />
        </Card>
      </div>
      <Daily daily={usage.daily} />
    </>
  )
}

type MeterProps = { title: string; used: number; limit: number | null; format(amount: number): string }

// Warns at the same shares at which Belfry emails the owners.
function Meter({ title, used, limit, format }: MeterProps): ReactNode {
  if (limit === null) {
    return (
      <div className={styles.tile}>
        <h2>{title}</h2>
        <p>
          {format(used)} <span>Unlimited</span>
        </p>
      </div>
    )
  }
  const share = limit === 0 ? 1 : used / limit
  return (
    <div className={styles.tile}>
      <h2>{title}</h2>
      <p>
        {format(used)} <span>of {format(limit)}</span>{' '}
        {share >= 1 ? (
          <Badge tone="bad">Limit reached</Badge>
        ) : share >= 0.8 ? (
          <Badge tone="warn">Near limit</Badge>
        ) : null}
      </p>
      <meter aria-label={title} min={0} max={1} low={0.8} high={0.999} optimum={0} value={Math.min(share, 1)} />
    </div>
  )
}

function Daily({ daily }: { daily: UsageResource['daily'] }): ReactNode {
  const data = useMemo(
    () => ({
      at: daily.map(({ date }) => Date.parse(date)),
      series: [
        { label: 'Executions', values: daily.map(day => day.executions) },
        { label: 'Dead', values: daily.map(day => day.failed) },
      ],
    }),
    [daily],
  )
  return (
    <section className={styles.section}>
      <Card>
        <Chart title="Executions per day" data={data} />
      </Card>
    </section>
  )
}
