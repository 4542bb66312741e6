import type { Host, Hosts } from '@belfry/contract/host'
import { useQuery } from '@tanstack/react-query'
import { Check, CirclePause, Crosshair, Pause, Play, RotateCw } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { hostsQuery, pauseHost, resumeHost } from '../../api/delivery.ts'
import { useChange } from '../../forms/use-change.ts'
import { CloseCircuit } from '../../layout/close-circuit.tsx'
import type { WorkspacePaths } from '../../paths.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { IconButton, Link } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount, formatCounted, formatRate } from '../../ui/format-amount.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { Problem } from '../../ui/problem.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './targets.module.css'

/** Lists the hosts that the workspace calls, with their health and circuit breakers. */
export function Targets(): ReactNode {
  const { workspace, to } = useWorkspace()
  const { data, error, refetch } = useQuery(hostsQuery(workspace.id))
  const columns = useMemo(() => columnsOf(to, data?.waiting_is_capped ?? false), [to, data?.waiting_is_capped])
  return (
    <>
      <PageHeader
        title="Targets"
        description="The hosts that your tasks call. When half of the calls to a host fail, its circuit breaker opens and its tasks wait until a probe succeeds."
      />
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data?.data.length === 0 ? (
        <EmptyState icon={Crosshair} title="No calls in the last hour">
          The hosts of your tasks appear here once they are called.
        </EmptyState>
      ) : (
        !(error && !data) && (
          <Table
            label="Targets"
            columns={columns}
            rows={data?.data}
            rowKey={({ host }) => host}
            actions={host => <PauseButton host={host} />}
          />
        )
      )}
      {data && data.data.length > 0 && <Note hosts={data} />}
    </>
  )
}

function PauseButton({ host: { host, paused_at: pausedAt } }: { host: Host }): ReactNode {
  const { workspace } = useWorkspace()
  const refusal = useRefusal('host.write')
  const isPaused = pausedAt !== null
  const { mutate, isPending } = useChange({
    run: () => (isPaused ? resumeHost : pauseHost)(workspace.id, host),
    done: () => (isPaused ? `${host} resumed` : `${host} paused`),
    affects: ['hosts', 'task', 'tasks'].map(name => [name, workspace.id]),
  })
  const Icon = isPaused ? Play : Pause
  return (
    <IconButton
      label={`${isPaused ? 'Resume' : 'Pause'} ${host}`}
      icon={<Icon size={16} />}
      refusal={refusal}
      isPending={isPending}
      onClick={() => mutate()}
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
    { id: 'host', header: 'Host', cell: ({ host }) => <span className={styles.host}>{host}</span> },
    { id: 'health', header: 'Health', cell: host => <Health host={host} /> },
    {
      id: 'waiting',
      header: 'Waiting',
      align: 'end',
      cell: ({ waiting }) => formatCounted(waiting, isCapped && waiting > 0),
    },
    { id: 'flight', header: 'In flight', align: 'end', isExtra: true, cell: one => formatCount(one.in_flight) },
    {
      id: 'rate',
      header: 'Calls per minute',
      align: 'end',
      isExtra: true,
      cell: one => one.attempts_per_minute.toLocaleString('en'),
    },
    { id: 'failed', header: 'Failed', align: 'end', cell: one => formatRate(one.failed, one.attempts) },
    {
      id: 'duration',
      header: 'Duration p50',
      align: 'end',
      isExtra: true,
      cell: one => (one.duration_p50_ms === null ? '–' : formatDuration(one.duration_p50_ms)),
    },
    { id: 'last', header: 'Latest failure', isExtra: true, cell: one => <LatestFailure host={one} to={to} /> },
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
