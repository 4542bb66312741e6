import type { CronJob } from '@belfry/contract/cron-job'
import type { Host as HostResource } from '@belfry/contract/host'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useParams } from 'react-router'
import { pagesOf, queryOf } from '../../api/queries.ts'
import { CloseCircuit } from '../../layout/close-circuit.tsx'
import { FailureGroups } from '../../layout/failure-groups.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { Card, Columns, Stack } from '../../ui/card.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { formatCount } from '../../ui/format-amount.ts'
import { ListTable } from '../../ui/list-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { StateBadge } from '../../ui/state-badge.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { averageText, failedText, HostState, LatestFailure, PauseHost, waitingText } from './host-state.tsx'
import styles from './hosts.module.css'

const dayMs = 86_400_000

/** A host with its health, its failures and its cron jobs, which a user can pause. */
export function Host(): ReactNode {
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
        badge={host && <HostState host={host} />}
        actions={
          host && (
            <>
              {host.circuit.state !== 'closed' && <CloseCircuit host={name} />}
              <PauseHost host={host} text={host.paused_at === null ? 'Pause' : 'Resume'} />
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

type Window = { label: string } & HostResource['health']['five_minutes']

const windowColumns: ReadonlyArray<Column<Window>> = [
  { header: 'Health', cell: ({ label }) => label },
  { header: 'Runs', align: 'end', cell: ({ attempts }) => formatCount(attempts) },
  { header: 'Failed', align: 'end', cell: failedText },
  { header: 'Average duration', align: 'end', cell: averageText },
]

function Health({ host: { health } }: { host: HostResource }): ReactNode {
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

function CronJobs({ host }: { host: string }): ReactNode {
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

function Details({ host }: { host: HostResource }): ReactNode {
  const { to } = useWorkspace()
  const { circuit, in_flight: inFlight, max_in_flight: max } = host
  const filter = new URLSearchParams({ host: host.host })
  return (
    <DefinitionList
      rows={[
        [
          'Waiting',
          <Link key="waiting" to={to.tasks(`?${filter}&state=pending&state=retrying`)}>
            {waitingText(host)} due
          </Link>,
        ],
        ['In flight', max > 0 ? `${formatCount(inFlight)} of ${formatCount(max)}` : formatCount(inFlight)],
        ['Paused', host.paused_at && <RelativeTime key="paused" at={host.paused_at} />],
        ['Circuit breaker', <Circuit key="circuit" circuit={circuit} />],
        ['Latest failure', host.last_failure && <LatestFailure key="failure" host={host} />],
        [
          'Runs',
          <span key="runs">
            <Link to={to.log(`?${filter}`)}>All</Link> · <Link to={to.log(`?${filter}&status=failed`)}>Failed</Link>
          </span>,
        ],
        [
          'Tasks',
          <span key="tasks">
            <Link to={to.tasks(`?${filter}`)}>All</Link> · <Link to={to.deadLetters(`?${filter}`)}>Dead letters</Link>
          </span>,
        ],
      ]}
    />
  )
}

function Circuit({ circuit: { state, since, next_probe_at: probeAt } }: Pick<HostResource, 'circuit'>): ReactNode {
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
