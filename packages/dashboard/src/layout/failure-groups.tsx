import type { RunFailures } from '@belfry/contract/run'
import { useQuery } from '@tanstack/react-query'
import { BellOff, Check, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { queryOf } from '../api/queries.ts'
import type { WorkspacePaths } from '../paths.ts'
import { useWorkspace } from '../session/scope.ts'
import { Badge } from '../ui/badge.tsx'
import { Button, Link } from '../ui/button.tsx'
import { formatCount } from '../ui/format-amount.ts'
import { Problem } from '../ui/problem.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { RelativeTime } from '../ui/time.tsx'
import { ChangeButton } from './change-buttons.tsx'
import { outcomeText } from './error-labels.ts'
import styles from './failure-groups.module.css'

type Group = RunFailures['data'][number]

const maxShown = 5

type FailureGroupsProps = {
  from: string | undefined
  /** Default: all hosts. */
  host?: string
}

/** Lists the failed runs since a time by host, error and status. Each row links to its runs in the log. */
export function FailureGroups({ from, host }: FailureGroupsProps) {
  const { workspace, to } = useWorkspace()
  const [isAll, setIsAll] = useState(false)
  const [areSettledShown, setAreSettledShown] = useState(false)
  const { data, error, refetch } = useQuery({
    ...queryOf('listFailures', { ws: workspace.id, query: { from, host } }),
    enabled: from !== undefined,
  })
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  if (data?.data.length === 0) return null
  const groups = data?.data.filter(({ state }) => areSettledShown || state === 'open')
  const settled = data?.data.filter(({ state }) => state !== 'open').length ?? 0
  const rest = data ? data.counted - data.data.reduce((sum, { count }) => sum + count, 0) : 0
  const isWhole = isAll || (groups?.length ?? 0) <= maxShown
  return (
    <section className={styles.failures}>
      <h2>Failures</h2>
      {groups?.length !== 0 && (
        <Table
          label="Failures"
          columns={columnsOf(to)}
          rows={isWhole ? groups : groups?.slice(0, maxShown)}
          isWhole={isWhole && rest === 0}
          rowKey={one => `${one.host} ${one.error_code} ${one.response_status}`}
          rowLink={one => to.log(filterOf(one, from))}
          actions={group => <StateButtons group={group} />}
        />
      )}
      <p className={styles.buttons}>
        {!isWhole && (
          <Button size="small" onClick={() => setIsAll(true)}>
            Show all {groups?.length}
          </Button>
        )}
        {settled > 0 && (
          <Button size="small" onClick={() => setAreSettledShown(!areSettledShown)}>
            {areSettledShown ? 'Hide' : 'Show'} {settled} ignored or resolved
          </Button>
        )}
      </p>
      {rest > 0 && <p className={styles.faint}>{formatCount(rest)} failed runs are in smaller groups, not shown.</p>}
      {data?.is_partial && <p className={styles.faint}>Based on the latest {formatCount(data.counted)} failed runs.</p>}
    </section>
  )
}

const moves = {
  open: { verb: 'Reopen', icon: <RotateCcw size={16} />, done: undefined },
  resolved: { verb: 'Resolve', icon: <Check size={16} />, done: 'Resolved. A new failure opens it again.' },
  ignored: { verb: 'Ignore', icon: <BellOff size={16} />, done: 'Ignored until it is reopened.' },
} as const

function StateButtons({ group }: { group: Group }) {
  const { workspace } = useWorkspace()
  const { host, error_code, response_status } = group
  const states = group.state === 'open' ? (['resolved', 'ignored'] as const) : (['open'] as const)
  return states.map(state => (
    <ChangeButton
      key={state}
      label={`${moves[state].verb} ${outcomeText(response_status, error_code)} of ${host}`}
      icon={moves[state].icon}
      right="host.write"
      run={() => call('setFailureState', { ws: workspace.id, body: { host, error_code, response_status, state } })}
      done={moves[state].done}
    />
  ))
}

function filterOf({ host, error_code, response_status }: Group, from: string | undefined): string {
  const filter = new URLSearchParams({ status: 'failed', host, error: error_code })
  if (response_status !== null) filter.set('response_status', String(response_status))
  if (from) filter.set('from', from)
  return `?${filter}`
}

function columnsOf(to: WorkspacePaths): ReadonlyArray<Column<Group>> {
  return [
    {
      header: 'Failure',
      isLead: true,
      sortBy: one => outcomeText(one.response_status, one.error_code),
      cell: one => (
        <span className={styles.failure}>
          <span>
            {outcomeText(one.response_status, one.error_code)} · <bdi>{one.host}</bdi>{' '}
            {one.state !== 'open' && <Badge>{one.state === 'ignored' ? 'Ignored' : 'Resolved'}</Badge>}
          </span>
          <bdi className={styles.message}>{one.cause ?? one.error_message}</bdi>
        </span>
      ),
    },
    { header: 'Runs', align: 'end', sortBy: one => one.count, cell: one => formatCount(one.count) },
    { ...timeColumn('First', one => one.first_at), isExtra: true },
    timeColumn('Last', one => one.last_at),
    {
      header: 'Example',
      isExtra: true,
      cell: one => (
        <Link to={to.run(one.last_run_id)} className={styles.example} title={one.task_name}>
          <bdi>{one.task_name}</bdi>
        </Link>
      ),
    },
  ]
}

function timeColumn(header: string, timeOf: (one: Group) => string): Column<Group> {
  return {
    header,
    align: 'end',
    sortBy: one => Date.parse(timeOf(one)),
    cell: one => <RelativeTime at={timeOf(one)} />,
  }
}
