import type { Overview } from '@belfry/contract'
import type { ReactNode } from 'react'
import { useWorkspace } from '../../session/scope.ts'
import { formatCount } from '../../ui/format-amount.ts'
import { type Column, Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './overview.module.css'

type FailingHost = Overview['failing_hosts'][number]

const columns: ReadonlyArray<Column<FailingHost>> = [
  { id: 'host', header: 'Host', cell: ({ host }) => <span className={styles.host}>{host}</span> },
  { id: 'failed', header: 'Failed', align: 'end', cell: ({ failed }) => formatCount(failed) },
  {
    id: 'last',
    header: 'Latest failure',
    cell: one => one.last_response_status ?? one.last_error_code?.replaceAll('_', ' ') ?? '–',
  },
  { id: 'at', header: 'Time', align: 'end', isExtra: true, cell: one => <RelativeTime at={one.last_failed_at} /> },
]

/** Lists the hosts with failures. Each row links to the latest failed run. */
export function FailingHosts({ overview }: { overview: Overview | undefined }): ReactNode {
  const { to } = useWorkspace()
  if (overview?.failing_hosts.length === 0) return null
  const isPart = overview !== undefined && overview.failures_looked_at < overview.runs.failed
  return (
    <section className={styles.hosts}>
      <h2>Failing targets</h2>
      <Table
        label="Failing targets"
        columns={columns}
        rows={overview?.failing_hosts}
        rowKey={one => one.host}
        rowLink={one => to.run(one.last_run_id)}
      />
      {isPart && (
        <p className={styles.faint}>Based on the latest {formatCount(overview.failures_looked_at)} failures.</p>
      )}
    </section>
  )
}
