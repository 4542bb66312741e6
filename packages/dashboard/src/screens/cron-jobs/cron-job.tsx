import type { CronJob as CronJobAnswer, Task } from '@belfry/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useParams } from 'react-router'
import { cronJobQuery } from '../../api/cron-jobs.ts'
import { runsQuery } from '../../api/runs.ts'
import { tasksQuery } from '../../api/tasks.ts'
import { draftOf } from '../../forms/request/request-draft.ts'
import { RequestPreview } from '../../forms/request/request-preview.tsx'
import { RunTable } from '../../layout/run-table.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { Card, Stack } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { StateBadge } from '../../ui/state-badge.tsx'
import { type Column, Skeleton, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { AbsoluteTime, RelativeTime } from '../../ui/time.tsx'
import { CronJobActions } from './cron-job-actions.tsx'
import styles from './cron-jobs.module.css'
import { NextRuns } from './next-runs.tsx'

const refreshMs = 5000

export function CronJob(): ReactNode {
  const { workspace, to } = useWorkspace()
  const { cronJob: id = '' } = useParams()
  const {
    data: job,
    error,
    refetch,
  } = useQuery({
    ...cronJobQuery(workspace.id, id),
    // Not once it has been deleted.
    refetchInterval: ({ state }) => (state.error ? false : refreshMs),
  })
  return (
    <>
      <PageHeader
        title={job?.name ?? 'Cron job'}
        parent={{ label: 'Cron jobs', to: to.cronJobs() }}
        badge={job && <StateBadge state={job.status} />}
        actions={job && <CronJobActions workspaceId={workspace.id} job={job} to={to} />}
      />
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!job && !error && <Skeleton />}
      {job && (
        <div className={styles.columns}>
          <Tabs
            label="About this cron job"
            tabs={[
              { id: 'occurrences', label: 'Occurrences', content: <Occurrences jobId={job.id} /> },
              { id: 'runs', label: 'Runs', content: <Runs jobId={job.id} /> },
              {
                id: 'request',
                label: 'Request',
                content: (
                  <RequestPreview draft={draftOf(job)} facts={{ taskId: null, scheduledAt: null, isCron: true }} />
                ),
              },
            ]}
          />
          <Stack>
            <Card label="Schedule">
              <p className={styles.description}>{job.description}</p>
              <p className={styles.faint}>
                <code>{job.cron}</code> in {job.timezone}
              </p>
              {job.next_runs.length > 0 && <NextRuns runs={job.next_runs} notes={job.notes} timezone={job.timezone} />}
              {job.status === 'paused' && <p>It is paused: nothing is sent until it is resumed.</p>}
              {job.status === 'ended' && <p>It has ended: nothing is sent any more.</p>}
            </Card>
            <Card label="Facts">
              <Facts job={job} />
            </Card>
          </Stack>
        </div>
      )}
    </>
  )
}

const occurrenceColumns: ReadonlyArray<Column<Task>> = [
  { id: 'due', header: 'Due', cell: task => <AbsoluteTime at={task.execute_at} /> },
  { id: 'state', header: 'State', cell: task => <StateBadge state={task.state} /> },
  { id: 'attempts', header: 'Attempts', align: 'end', isExtra: true, cell: task => task.attempts },
  {
    id: 'finished',
    header: 'Finished',
    align: 'end',
    isExtra: true,
    cell: task => (task.finished_at ? <RelativeTime at={task.finished_at} /> : '–'),
  },
]

function Occurrences({ jobId }: { jobId: string }): ReactNode {
  const { workspace, to } = useWorkspace()
  const list = useInfiniteQuery({
    ...tasksQuery(workspace.id, { cronjob_id: jobId }),
    refetchInterval: refreshMs,
  })
  if (list.error) return <Problem error={list.error} onRetry={() => void list.refetch()} />
  if (list.data?.items.length === 0) {
    return <p>None yet. Each occurrence appears here some minutes ahead of its time, as a task.</p>
  }
  return (
    <>
      <Table
        label="Occurrences"
        columns={occurrenceColumns}
        rows={list.data?.items}
        rowKey={task => task.id}
        rowLink={task => to.task(task.id)}
      />
      <LoadMore {...list} />
    </>
  )
}

function Runs({ jobId }: { jobId: string }): ReactNode {
  const { workspace, to } = useWorkspace()
  const list = useInfiniteQuery({
    ...runsQuery(workspace.id, { cronjob_id: jobId }),
    refetchInterval: refreshMs,
  })
  if (list.error) return <Problem error={list.error} onRetry={() => void list.refetch()} />
  return (
    <>
      <RunTable label="Runs" runs={list.data?.items} to={to} empty="None yet." />
      <LoadMore {...list} />
    </>
  )
}

const overlaps: Record<CronJobAnswer['overlap'], string> = { allow: 'start all the same', skip: 'are left out' }
const catchUps: Record<CronJobAnswer['catch_up'], string> = {
  latest: 'the latest is made up for',
  all: 'all are made up for',
  none: 'are left out',
}

function Facts({ job }: { job: CronJobAnswer }): ReactNode {
  const { to } = useWorkspace()
  return (
    <DefinitionList
      rows={[
        [
          'Id',
          <span key="id" className={styles.id}>
            <code>{job.id}</code>
            <CopyButton text={job.id} label="Copy the id" />
          </span>,
        ],
        ['Begins', job.starts_at && <AbsoluteTime at={job.starts_at} />],
        ['Ends', job.ends_at && <AbsoluteTime at={job.ends_at} />],
        ['Overlapping ones', overlaps[job.overlap]],
        ['Missed ones', catchUps[job.catch_up]],
        ['Retries', `${job.retry.max_retries}, ${job.retry.backoff}`],
        ['Timeout', formatDuration(job.timeout_ms)],
        [
          'In the log',
          <Link key="log" to={to.log(`?cronjob_id=${job.id}`)}>
            All of its runs
          </Link>,
        ],
      ]}
    />
  )
}
