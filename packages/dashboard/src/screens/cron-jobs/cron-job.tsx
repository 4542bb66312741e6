import type { CronJob as CronJobResource } from '@belfry/contract/cron-job'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { CopyPlus, Ellipsis, History, Pencil, Trash2, Zap } from 'lucide-react'
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { call } from '../../api/call.ts'
import { pagesOf, queryOf } from '../../api/queries.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { draftOf } from '../../forms/request/request-draft.ts'
import { RequestPreview } from '../../forms/request/request-preview.tsx'
import { describeDelays, retryCount } from '../../forms/request/retry-draft.ts'
import { acceptedFilters } from '../../layout/accepted-filters.ts'
import { ChangeButton } from '../../layout/change-buttons.tsx'
import { lagOptions } from '../../layout/lag-options.ts'
import { PauseButton } from '../../layout/pause-button.tsx'
import { RunTable } from '../../layout/run-table.tsx'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { ButtonLink, IconButton, Link } from '../../ui/button.tsx'
import { Card, Columns, Stack } from '../../ui/card.tsx'
import { CopyableId } from '../../ui/copy-button.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { SelectFilter, useFilters } from '../../ui/filter-bar.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import { latePart } from '../../ui/late-part.tsx'
import { ListTable } from '../../ui/list-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { StateBadge } from '../../ui/state-badge.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { AbsoluteTime, RelativeTime } from '../../ui/time.tsx'
import styles from './cron-jobs.module.css'
import { NextRuns } from './next-runs.tsx'

const refreshMs = 5000

export function CronJob() {
  const { workspace, to } = useWorkspace()
  const { cronJob: id = '' } = useParams()
  const query = useQuery({
    ...queryOf('getCronJob', { ws: workspace.id, cronjob: id }),
    // Stops when the cron job has been deleted.
    refetchInterval: ({ state }) => (state.error ? false : refreshMs),
  })
  const job = query.data
  return (
    <>
      <PageHeader
        title={job?.name ?? 'Cron job'}
        parent={{ label: 'Cron jobs', to: to.cronJobs() }}
        badge={job && <StateBadge state={job.status} />}
        actions={job && <CronJobActions job={job} />}
      />
      <Loaded query={query}>
        {job => (
          <Columns>
            <Tabs
              label="Cron job details"
              tabs={[
                { id: 'occurrences', label: 'Occurrences', content: <Occurrences job={job} /> },
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
                {job.next_runs.length > 0 && (
                  <NextRuns runs={job.next_runs} notes={job.notes} timezone={job.timezone} />
                )}
                {job.paused_reason === 'failing' && <p>Switched off, because it only failed for days.</p>}
                {job.failing_since && (
                  <p>
                    Every run has failed since <RelativeTime at={job.failing_since} />.
                  </p>
                )}
                {job.status === 'paused' && <p>Paused. Nothing is sent until you resume it.</p>}
                {job.status === 'ended' && <p>Ended. Nothing more is sent.</p>}
              </Card>
              <Card label="Details">
                <Details job={job} />
              </Card>
            </Stack>
          </Columns>
        )}
      </Loaded>
    </>
  )
}

function Occurrences({ job }: { job: CronJobResource }) {
  const { workspace, to } = useWorkspace()
  const list = useInfiniteQuery({
    ...pagesOf('listTasks', { ws: workspace.id, query: { cronjob_id: job.id } }),
    refetchInterval: refreshMs,
  })
  return (
    <ListTable
      label="Occurrences"
      columns={[
        { header: 'Due', cell: task => <AbsoluteTime at={task.execute_at} jobZone={job.timezone} /> },
        { header: 'State', cell: task => <StateBadge state={task.state} /> },
        { header: 'Runs', align: 'end', isExtra: true, cell: task => task.attempts },
        {
          header: 'Finished',
          align: 'end',
          isExtra: true,
          cell: ({ finished_at: at }) => (at ? <RelativeTime at={at} jobZone={job.timezone} /> : '–'),
        },
      ]}
      list={list}
      rowLink={task => to.task(task.id)}
      empty={<p>No occurrences yet. Each one appears here as a task a few minutes before it is due.</p>}
    />
  )
}

function Runs({ jobId }: { jobId: string }) {
  const { workspace } = useWorkspace()
  const filters = useFilters(['late_ms'], acceptedFilters)
  const list = useInfiniteQuery({
    ...pagesOf('listRuns', { ws: workspace.id, query: { cronjob_id: jobId, ...filters.values } }),
    refetchInterval: refreshMs,
  })
  return (
    <>
      <div className={styles.lag}>
        <SelectFilter filters={filters} name="late_ms" label="Lag" all="Any lag" options={lagOptions} />
      </div>
      <RunTable list={list} empty={<p>{filters.isSet ? 'No run has started this late.' : 'No runs yet.'}</p>} />
    </>
  )
}

const overlaps: Record<CronJobResource['overlap'], string> = { allow: 'Allow', skip: 'Skip' }
const catchUps: Record<CronJobResource['catch_up'], string> = {
  latest: 'Run the latest',
  all: 'Run all',
  none: 'Skip',
}

function Details({ job }: { job: CronJobResource }) {
  const { to } = useWorkspace()
  return (
    <DefinitionList
      rows={{
        ID: <CopyableId id={job.id} />,
        Starts: job.starts_at && <AbsoluteTime at={job.starts_at} jobZone={job.timezone} />,
        Ends: job.ends_at && <AbsoluteTime at={job.ends_at} jobZone={job.timezone} />,
        Overlap: overlaps[job.overlap],
        'Missed runs': catchUps[job.catch_up],
        Retries: `${retryCount(job.retry)}, ${describeDelays(job.retry)}`,
        Timeout: formatDuration(job.timeout_ms),
        Connection: job.connection && <code>{job.connection}</code>,
        Queue: job.queue && <QueueLink name={job.queue} />,
        'Maximum age': job.max_age_ms !== null && formatDuration(job.max_age_ms),
        Labels: job.labels.length > 0 && job.labels.join(', '),
        'On success': job.on_success && <code>{job.on_success.url}</code>,
        'On failure': job.on_failure && <code>{job.on_failure.url}</code>,
        'After each run': job.on_attempt && <code>{job.on_attempt.url}</code>,
        Log: <Link to={to.log(`?cronjob_id=${job.id}`)}>View all runs</Link>,
      }}
    />
  )
}

function QueueLink({ name }: { name: string }) {
  const { workspace, to } = useWorkspace()
  const { data: queue } = useQuery(queryOf('getQueue', { ws: workspace.id, queue: name }))
  return (
    <>
      <Link to={to.queues()}>
        <code>{name}</code>
      </Link>{' '}
      {queue?.paused_at && <Badge tone="warn">Paused</Badge>}
    </>
  )
}

function CronJobActions({ job }: { job: CronJobResource }) {
  const isPaused = job.status === 'paused'
  const pause = isPaused ? 'Resume' : 'Pause'
  const { workspace, to } = useWorkspace()
  const navigate = useNavigate()
  const mayNotWrite = useRefusal('cron_job.write')
  const mayNotDelete = useRefusal('cron_job.delete')
  const [asked, setAsked] = useState<'delete' | 'backfill' | null>(null)
  return (
    <>
      <ChangeButton
        text="Trigger now"
        icon={<Zap size={15} />}
        right="cron_job.write"
        run={() => call('triggerCronJob', { ws: workspace.id, cronjob: job.id })}
        onDone={task => navigate(to.task(task.id))}
        done="Triggered as a new task"
      />
      {job.status !== 'ended' && (
        <PauseButton what="cron_job" id={job.id} name={job.name} isPaused={isPaused} text={pause} label={pause} />
      )}
      <ButtonLink to={to.editCronJob(job.id)} icon={<Pencil size={15} />} refusal={mayNotWrite}>
        Edit
      </ButtonLink>
      <Menu align="end" trigger={<IconButton kind="secondary" label="More" icon={<Ellipsis size={16} />} />}>
        <MenuItem icon={<CopyPlus size={15} />} to={to.newCronJob(job.id)} refusal={mayNotWrite}>
          Duplicate
        </MenuItem>
        <MenuItem icon={<History size={15} />} refusal={mayNotWrite} onSelect={() => setAsked('backfill')}>
          Run for a past time
        </MenuItem>
        <MenuItem icon={<Trash2 size={15} />} isDangerous refusal={mayNotDelete} onSelect={() => setAsked('delete')}>
          Delete
        </MenuItem>
      </Menu>
      <ConfirmChange
        isOpen={asked === 'delete'}
        onClose={() => setAsked(null)}
        title="Delete this cron job?"
        description={`“${job.name}” will not run again, and its occurrences that have not started are cancelled. Its runs stay in the log.`}
        action="Delete cron job"
        run={() => call('deleteCronJob', { ws: workspace.id, cronjob: job.id })}
        leaves
        onDone={() => navigate(to.cronJobs())}
        done="Cron job deleted"
      />
      {asked === 'backfill' && <BackfillDialog job={job} onClose={() => setAsked(null)} />}
    </>
  )
}

const BackfillDialog = latePart(async () => (await import('./backfill-dialog.tsx')).BackfillDialog)
