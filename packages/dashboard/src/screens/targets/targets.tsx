import type { Host, Hosts } from '@belfry/contract/host'
import { useQuery } from '@tanstack/react-query'
import { Check, CirclePause, Crosshair, Pause, Play, RotateCw } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { ChangeButton } from '../../layout/change-buttons.tsx'
import { CloseCircuit } from '../../layout/close-circuit.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import type { WorkspacePaths } from '../../paths.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Link } from '../../ui/button.tsx'
import { formatCount, formatCounted, formatRate } from '../../ui/format-amount.ts'
import { formatDuration } from '../../ui/format-time.ts'
import type { Column } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './targets.module.css'

/** Lists the hosts that the workspace calls, with their health and circuit breakers. */
export function Targets(): ReactNode {
  const { workspace, to } = useWorkspace()
  const list = useQuery(queryOf('listHosts', { ws: workspace.id }))
  const { data } = list
  const columns = useMemo(() => columnsOf(to, data?.waiting_is_capped ?? false), [to, data?.waiting_is_capped])
  return (
    <ResourceList
      title="Targets"
      description="The hosts that your tasks call. When half of the calls to a host fail, its circuit breaker opens and its tasks wait until a probe succeeds."
      list={list}
      rows={data?.data}
      rowKey={({ host }) => host}
      empty={{
        icon: Crosshair,
        title: 'No calls in the last hour',
        children: 'The hosts of your tasks appear here once they are called.',
      }}
      columns={columns}
      actions={host => <PauseButton host={host} />}
    >
      {data && data.data.length > 0 && <Note hosts={data} />}
    </ResourceList>
  )
}

function PauseButton({ host: { host, paused_at: pausedAt } }: { host: Host }): ReactNode {
  const { workspace } = useWorkspace()
  const isPaused = pausedAt !== null
  const Icon = isPaused ? Play : Pause
  return (
    <ChangeButton
      label={`${isPaused ? 'Resume' : 'Pause'} ${host}`}
      icon={<Icon size={16} />}
      refusal={useRefusal('host.write')}
      run={() => call(isPaused ? 'resumeHost' : 'pauseHost', { ws: workspace.id, host })}
      done={isPaused ? `${host} resumed` : `${host} paused`}
    />
  )
}

function Note({ hosts }: { hosts: Hosts }): ReactNode {
  const { from, omitted, max_in_flight_per_host: limit } = hosts
  return (
    <p className={styles.note}>
      Calls since <RelativeTime at={from} />.
      {limit > 0 && ` At most ${formatCount(limit)} calls to a host are in flight at once.`}
      {omitted > 0 && ` ${formatCount(omitted)} more hosts are not shown.`}
    </p>
  )
}

function columnsOf(to: WorkspacePaths, isCapped: boolean): ReadonlyArray<Column<Host>> {
  return [
    { header: 'Host', cell: ({ host }) => <span className={styles.host}>{host}</span> },
    { header: 'Health', cell: host => <Health host={host} /> },
    { header: 'Waiting', align: 'end', cell: ({ waiting }) => formatCounted(waiting, isCapped && waiting > 0) },
    { header: 'In flight', align: 'end', isExtra: true, cell: one => formatCount(one.in_flight) },
    {
      header: 'Calls per minute',
      align: 'end',
      isExtra: true,
      cell: one => one.attempts_per_minute.toLocaleString('en'),
    },
    { header: 'Failed', align: 'end', cell: one => formatRate(one.failed, one.attempts) },
    {
      header: 'Duration p50',
      align: 'end',
      isExtra: true,
      cell: one => (one.duration_p50_ms === null ? '–' : formatDuration(one.duration_p50_ms)),
    },
    { header: 'Latest failure', isExtra: true, cell: one => <LatestFailure host={one} to={to} /> },
  ]
}

function Health({ host: { host, circuit, paused_at: pausedAt, attempts, failed } }: { host: Host }): ReactNode {
  if (pausedAt !== null) {
    return (
      <span className={styles.state}>
        <Badge tone="warn">Paused</Badge>
        <span className={styles.faint}>
          <RelativeTime at={pausedAt} />
        </span>
      </span>
    )
  }
  if (circuit.state === 'closed') {
    if (attempts > 0 && failed * 2 >= attempts) return <Badge tone="warn">Failing</Badge>
    return (
      <Badge tone="good" icon={<Check size={13} strokeWidth={2.4} aria-hidden="true" />}>
        Healthy
      </Badge>
    )
  }
  const isOpen = circuit.state === 'open'
  const Icon = isOpen ? CirclePause : RotateCw
  return (
    <span className={styles.state}>
      <Badge tone="bad" icon={<Icon size={13} strokeWidth={2.4} aria-hidden="true" />}>
        {isOpen ? 'Circuit breaker open' : 'Probing'}
      </Badge>
      {isOpen && circuit.next_probe_at && (
        <span className={styles.faint}>
          Next probe <RelativeTime at={circuit.next_probe_at} />
        </span>
      )}
      <CloseCircuit host={host} />
    </span>
  )
}

function LatestFailure({ host: { last_failure: last }, to }: { host: Host; to: WorkspacePaths }): ReactNode {
  if (!last) return '–'
  return (
    <>
      <Link to={to.run(last.run_id)}>{last.response_status ?? last.error_code?.replaceAll('_', ' ') ?? 'Run'}</Link>{' '}
      <span className={styles.faint}>
        <RelativeTime at={last.at} />
      </span>
    </>
  )
}
