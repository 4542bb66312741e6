import type { Usage as UsageAnswer } from '@belfry/contract'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { usageQuery } from '../../api/organizations.ts'
import { PageFor } from '../../session/allowed.tsx'
import { useOrganization } from '../../session/scope.ts'
import { Card } from '../../ui/card.tsx'
import { Chart } from '../../ui/chart.tsx'
import { formatBytes, formatCount } from '../../ui/format-amount.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/table.tsx'
import { Meter } from './meter.tsx'
import styles from './settings.module.css'
import { Tiers } from './tiers.tsx'

export function Usage(): ReactNode {
  return (
    <PageFor right="usage.read">
      <PageHeader
        title="Tier and usage"
        description="An execution is a task whose dispatch started; its retries are free. Months are those of UTC."
      />
      <Amounts />
      <Tiers />
    </PageFor>
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

function Daily({ daily }: { daily: UsageAnswer['daily'] }): ReactNode {
  const data = useMemo(
    () => ({
      at: daily.map(({ date }) => Date.parse(date)),
      series: [
        { label: 'Executions', values: daily.map(day => day.executions) },
        { label: 'Ended dead', values: daily.map(day => day.failed) },
      ],
    }),
    [daily],
  )
  return (
    <section className={styles.section}>
      <Card>
        <Chart title="Executions a day" data={data} />
      </Card>
    </section>
  )
}
