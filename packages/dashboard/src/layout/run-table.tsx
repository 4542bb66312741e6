import type { Run } from '@belfry/contract/run'
import type { ReactNode } from 'react'
import type { WorkspacePaths } from '../paths.ts'
import { formatDuration } from '../ui/format-time.ts'
import { StateBadge } from '../ui/state-badge.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { RelativeTime } from '../ui/time.tsx'

const started: Column<Run> = {
  id: 'at',
  header: 'Started',
  cell: run => <RelativeTime at={run.started_at} jobZone={run.cronjob_timezone} />,
}
const columns: ReadonlyArray<Column<Run>> = [
  { id: 'status', header: 'Status', cell: run => <StateBadge state={run.status} /> },
  {
    id: 'response',
    header: 'Response',
    cell: run => run.response_status ?? run.error?.code.replaceAll('_', ' ') ?? '–',
  },
  { id: 'lag', header: 'Lag', align: 'end', isExtra: true, cell: run => formatDuration(run.lag_ms) },
  { id: 'duration', header: 'Duration', align: 'end', cell: run => formatDuration(run.duration_ms) },
]
const withAttempts: ReadonlyArray<Column<Run>> = [
  { id: 'attempt', header: 'Run', isLead: true, cell: run => `#${run.attempt}` },
  ...columns,
  { ...started, align: 'end', isExtra: true },
]
const withTimes: ReadonlyArray<Column<Run>> = [{ ...started, isLead: true }, ...columns]

type RunTableProps = {
  label: string
  /** Undefined while loading. */
  runs: readonly Run[] | undefined
  to: WorkspacePaths
  /** Shown when there are no runs. */
  empty: string
  /** Adds a column with the attempt number, for the runs of one task. */
  withAttempt?: boolean
}

/** The runs of one task or cron job. */
export function RunTable({ label, runs, to, empty, withAttempt }: RunTableProps): ReactNode {
  if (runs?.length === 0) return <p>{empty}</p>
  return (
    <Table
      label={label}
      columns={withAttempt ? withAttempts : withTimes}
      rows={runs}
      rowKey={run => run.id}
      rowLink={run => to.run(run.id)}
    />
  )
}
