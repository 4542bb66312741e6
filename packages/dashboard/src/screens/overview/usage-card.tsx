import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { usageQuery } from '../../api/organizations.ts'
import { paths } from '../../paths.ts'
import { useOrganization } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { formatBytes, formatCount, formatRate } from '../../ui/format-amount.ts'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/table.tsx'
import styles from './overview.module.css'

type Share = { used: number; limit: number | null }

/** The usage of the organization this month, and the limits of its tier. */
export function UsageCard(): ReactNode {
  const { organization } = useOrganization()
  const { data, error, refetch } = useQuery(usageQuery(organization.id))
  return (
    <Card label="Usage">
      <div className={styles.head}>
        <h2>{organization.name} this month</h2>
        <Link to={paths.settings(organization.slug, 'usage')}>Usage and limits</Link>
      </div>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton />}
      {data && (
        <div className={styles.shares}>
          <Meter label="Executions" share={data.executions} format={formatCount} />
          <Meter label="Storage" share={data.storage_bytes} format={formatBytes} />
          <Meter label="Workspaces" share={data.workspaces} format={formatCount} />
        </div>
      )}
    </Card>
  )
}

type MeterProps = { label: string; share: Share; format(value: number): string }

function Meter({ label, share: { used, limit }, format }: MeterProps): ReactNode {
  if (limit === null) {
    return (
      <div className={styles.share}>
        <span>{label}</span>
        <span className={styles.faint}>{format(used)}</span>
      </div>
    )
  }
  const part = limit === 0 ? 1 : Math.min(1, used / limit)
  const tone = part >= 1 ? styles.over : part >= 0.8 ? styles.near : styles.fine
  return (
    <div>
      <div className={styles.share}>
        <span>{label}</span>
        <span className={styles.faint}>
          {format(used)} of {format(limit)}, {formatRate(used, limit)}
        </span>
      </div>
      <div className={styles.track}>
        <div className={tone} style={{ width: `${part * 100}%` }} />
      </div>
    </div>
  )
}
