import type { Host } from '@belfry/contract/host'
import { useQuery } from '@tanstack/react-query'
import { Server } from 'lucide-react'
import type { ReactNode } from 'react'
import { queryOf } from '../../api/queries.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { formatCount } from '../../ui/format-amount.ts'
import type { Column } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { averageText, failedText, HostState, LatestFailure, PauseHost, waitingText } from './host-state.tsx'
import styles from './hosts.module.css'

/** Lists the hosts that the workspace calls, with their health and circuit breakers. */
export function Hosts(): ReactNode {
  const { workspace, to } = useWorkspace()
  const list = useQuery(queryOf('listHosts', { ws: workspace.id }))
  const omitted = list.data?.omitted ?? 0
  return (
    <ResourceList
      title="Hosts"
      description="The hosts that your tasks call. When half of the calls to a host in a minute fail, its circuit breaker opens and its tasks wait until a probe succeeds."
      list={list}
      rowKey={({ host }) => host}
      rowLink={({ host }) => to.host(host)}
      empty={{
        icon: Server,
        title: 'No calls in the last 24 hours',
        children: 'The hosts of your tasks appear here once they are called.',
      }}
      columns={columns}
      actions={host => <PauseHost host={host} />}
    >
      {omitted > 0 && <p className={styles.note}>{formatCount(omitted)} more hosts are not shown.</p>}
    </ResourceList>
  )
}

const columns: ReadonlyArray<Column<Host>> = [
  { header: 'Host', cell: ({ host }) => <span className={styles.host}>{host}</span> },
  {
    header: 'Health',
    cell: host => (
      <span className={styles.state}>
        <HostState host={host} />
        <Since host={host} />
        <LatestFailure host={host} />
      </span>
    ),
  },
  { header: 'Waiting', align: 'end', isExtra: true, cell: waitingText },
  { header: 'In flight', align: 'end', isExtra: true, cell: one => formatCount(one.in_flight) },
  { header: 'Runs, 1 h', align: 'end', isExtra: true, cell: ({ health }) => formatCount(health.hour.attempts) },
  { header: 'Failed, 1 h', align: 'end', isExtra: true, cell: ({ health }) => failedText(health.hour) },
  { header: 'Average duration', align: 'end', isExtra: true, cell: ({ health }) => averageText(health.hour) },
]

function Since({ host: { paused_at: pausedAt, circuit } }: { host: Host }): ReactNode {
  const probeAt = circuit.state === 'open' ? circuit.next_probe_at : null
  const at = pausedAt ?? probeAt
  if (at === null) return null
  return (
    <span className={styles.faint}>
      {pausedAt === null && 'Next probe '}
      <RelativeTime at={at} />
    </span>
  )
}
