import type { CronJob } from '@belfry/contract/cron-job'
import type { Host as HostResource } from '@belfry/contract/host'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Server } from 'lucide-react'
import { useState } from 'react'
import { useParams } from 'react-router'
import { pagesOf, queryOf } from '../../api/queries.ts'
import { CloseCircuit } from '../../layout/close-circuit.tsx'
import { outcomeText } from '../../layout/error-labels.ts'
import { FailureGroups } from '../../layout/failure-groups.tsx'
import { PauseButton } from '../../layout/pause-button.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { Card, Columns, Stack } from '../../ui/card.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { formatCount, formatCounted, formatRate } from '../../ui/format-amount.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { ListTable } from '../../ui/list-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { StateBadge } from '../../ui/state-badge.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './hosts.module.css'

export function Hosts() {
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
      columns={hostColumns}
      actions={({ host, paused_at }) => <PauseButton what="host" name={host} isPaused={paused_at !== null} />}
    >
      {omitted > 0 && <p className={styles.note}>{formatCount(omitted)} more hosts are not shown.</p>}
    </ResourceList>
  )
}

const hostColumns: ReadonlyArray<Column<HostResource>> = [
  { header: 'Host', cell: ({ host }) => <span className={styles.host}>{host}</span> },
  {
    header: 'Health',
    cell: host => (
      <span className={styles.state}>
        <StateBadge state={stateOf(host)} />
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

function Since({ host: { paused_at: pausedAt, circuit } }: { host: HostResource }) {
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

const dayMs = 86_400_000

export function Host() {
  const { workspace, to } = useWorkspace()
  const { host: name = '' } = useParams()
  const [dayAgo] = useState(() => new Date(Date.now() - dayMs).toISOString())
  const query = useQuery(queryOf('getHost', { ws: workspace.id, host: name }))
  const host = query.data
  return (
    <>
      <PageHeader
        title={name}
        parent={{ label: 'Hosts', to: to.hosts() }}
        badge={host && <StateBadge state={stateOf(host)} />}
        actions={
          host && (
            <>
              {host.circuit.state !== 'closed' && <CloseCircuit host={name} />}
              <PauseButton
                what="host"
                name={name}
                isPaused={host.paused_at !== null}
                text={host.paused_at === null ? 'Pause' : 'Resume'}
              />
            </>
          )
        }
      />
      <Loaded query={query}>
        {host => (
          <Columns>
            <Stack>
              <Health host={host} />
              <FailureGroups from={dayAgo} host={name} />
              <section>
                <h2 className={styles.heading}>Cron jobs</h2>
                <CronJobs host={name} />
              </section>
            </Stack>
            <Card label="Details">
              <Details host={host} />
            </Card>
          </Columns>
        )}
      </Loaded>
    </>
  )
}

type Counts = HostResource['health']['hour']

const windowColumns: ReadonlyArray<Column<Counts & { label: string }>> = [
  { header: 'Health', cell: ({ label }) => label },
  { header: 'Runs', align: 'end', cell: ({ attempts }) => formatCount(attempts) },
  { header: 'Failed', align: 'end', cell: failedText },
  { header: 'Average duration', align: 'end', cell: averageText },
]

function Health({ host: { health } }: { host: HostResource }) {
  const windows = [
    { label: 'Last 5 minutes', ...health.five_minutes },
    { label: 'Last hour', ...health.hour },
    { label: 'Last 24 hours', ...health.day },
  ]
  return <Table label="Health" columns={windowColumns} rows={windows} rowKey={({ label }) => label} />
}

const cronJobColumns: ReadonlyArray<Column<CronJob>> = [
  { header: 'Name', cell: ({ name }) => <bdi className={styles.name}>{name}</bdi> },
  { header: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
  { header: 'Queue', isExtra: true, cell: ({ queue }) => queue ?? '–' },
  { header: 'Next run', align: 'end', cell: ({ next_runs: [next] }) => (next ? <RelativeTime at={next} /> : '–') },
]

function CronJobs({ host }: { host: string }) {
  const { workspace, to } = useWorkspace()
  return (
    <ListTable
      label="Cron jobs"
      columns={cronJobColumns}
      list={useInfiniteQuery(pagesOf('listCronJobs', { ws: workspace.id, query: { host } }))}
      rowLink={({ id }) => to.cronJob(id)}
      empty={<p className={styles.faint}>No cron job calls this host.</p>}
    />
  )
}

function Details({ host }: { host: HostResource }) {
  const { to } = useWorkspace()
  const { circuit, in_flight: inFlight, max_in_flight: max } = host
  const filter = new URLSearchParams({ host: host.host })
  return (
    <DefinitionList
      rows={{
        Waiting: <Link to={to.tasks(`?${filter}&state=pending&state=retrying`)}>{waitingText(host)} due</Link>,
        'In flight': max > 0 ? `${formatCount(inFlight)} of ${formatCount(max)}` : formatCount(inFlight),
        Paused: host.paused_at && <RelativeTime at={host.paused_at} />,
        'Circuit breaker': <Circuit circuit={circuit} />,
        'Latest failure': host.last_failure && <LatestFailure host={host} />,
        Runs: (
          <>
            <Link to={to.log(`?${filter}`)}>All</Link> · <Link to={to.log(`?${filter}&status=failed`)}>Failed</Link>
          </>
        ),
        Tasks: (
          <>
            <Link to={to.tasks(`?${filter}`)}>All</Link> · <Link to={to.deadLetters(`?${filter}`)}>Dead letters</Link>
          </>
        ),
      }}
    />
  )
}

function Circuit({ circuit: { state, since, next_probe_at: probeAt } }: Pick<HostResource, 'circuit'>) {
  if (since === null || probeAt === null) return 'Closed'
  return (
    <>
      Open since <RelativeTime at={since} />.{' '}
      {state === 'open' ? (
        <>
          Next probe <RelativeTime at={probeAt} />.
        </>
      ) : (
        'Probing now.'
      )}
    </>
  )
}

/** Returns whether a host is paused, has an open circuit breaker, or fails. */
function stateOf({ circuit, paused_at: pausedAt, health }: HostResource) {
  if (pausedAt !== null) return 'paused'
  if (circuit.state !== 'closed') return circuit.state === 'open' ? 'circuit_breaker_open' : 'probing'
  const { attempts, failed } = health.five_minutes
  return attempts > 0 && failed * 2 >= attempts ? 'failing' : 'healthy'
}

/** The response of the latest failed run, and when it was. */
function LatestFailure({ host: { last_failure: last } }: { host: HostResource }) {
  const { to } = useWorkspace()
  if (!last) return null
  return (
    <span className={styles.faint}>
      <Link to={to.run(last.run_id)}>{outcomeText(last.response_status, last.error_code)}</Link>{' '}
      <RelativeTime at={last.at} />
    </span>
  )
}

function waitingText({ waiting, waiting_is_capped: isCapped }: HostResource): string {
  return formatCounted(waiting, isCapped && waiting > 0)
}

function failedText({ failed, attempts }: Counts): string {
  return formatRate(failed, attempts)
}

function averageText({ duration_ms: average }: Counts): string {
  return average === null ? '–' : formatDuration(average)
}
