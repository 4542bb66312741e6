import type { Run } from '@belfry/contract/run'
import { useWorkspace } from '../session/scope.ts'
import { formatDuration } from '../ui/format-time.ts'
import { ListTable, type ListTableProps } from '../ui/list-table.tsx'
import { StateBadge } from '../ui/state-badge.tsx'
import type { Column } from '../ui/table.tsx'
import { RelativeTime } from '../ui/time.tsx'
import { outcomeText } from './error-labels.ts'

const started: Column<Run> = {
  header: 'Started',
  cell: run => <RelativeTime at={run.started_at} jobZone={run.cronjob_timezone} />,
}
const columns: ReadonlyArray<Column<Run>> = [
  { header: 'Status', cell: run => <StateBadge state={run.status} /> },
  { header: 'Response', cell: run => outcomeText(run.response_status, run.error?.code) },
  { header: 'Lag', align: 'end', isExtra: true, cell: run => formatDuration(run.lag_ms) },
  { header: 'Duration', align: 'end', cell: run => formatDuration(run.duration_ms) },
]
const withAttempts: ReadonlyArray<Column<Run>> = [
  { header: 'Run', isLead: true, cell: run => `#${run.attempt}` },
  ...columns,
  { ...started, align: 'end', isExtra: true },
]
const withTimes: ReadonlyArray<Column<Run>> = [{ ...started, isLead: true }, ...columns]

type RunTableProps = Pick<ListTableProps<Run>, 'list' | 'empty'> & {
  /** Adds a column with the attempt number, for the runs of one task. */
  withAttempt?: boolean
}

export function RunTable({ withAttempt, ...table }: RunTableProps) {
  const { to } = useWorkspace()
  return (
    <ListTable
      {...table}
      label="Runs"
      columns={withAttempt ? withAttempts : withTimes}
      rowLink={run => to.run(run.id)}
    />
  )
}
