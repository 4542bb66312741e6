import type { Run } from '@belfry/contract/run'
import type { Task as TaskResource } from '@belfry/contract/task'
import { isTerminal } from '@belfry/domain/task-state'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Ban, CirclePause, CopyPlus, Pencil, PencilLine, RotateCw } from 'lucide-react'
import { useNavigate, useParams } from 'react-router'
import { call } from '../../api/call.ts'
import { pagesOf, queryOf } from '../../api/queries.ts'
import { callbackEvents } from '../../forms/request/flow-draft.ts'
import { draftOf } from '../../forms/request/request-draft.ts'
import { RequestPreview } from '../../forms/request/request-preview.tsx'
import { describeDelays, retryCount } from '../../forms/request/retry-draft.ts'
import { ChangeButton, ConfirmButton } from '../../layout/change-buttons.tsx'
import { CloseCircuit } from '../../layout/close-circuit.tsx'
import { RunTable } from '../../layout/run-table.tsx'
import type { WorkspacePaths } from '../../paths.ts'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { ButtonLink, Link } from '../../ui/button.tsx'
import { Card, Columns, Stack } from '../../ui/card.tsx'
import { CopyableId } from '../../ui/copy-button.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { StateBadge } from '../../ui/state-badge.tsx'
import { AbsoluteTime, RelativeTime } from '../../ui/time.tsx'
import { historyOf } from './task-history.ts'
import styles from './tasks.module.css'

const refreshMs = 2000

export function Task() {
  const { workspace, to } = useWorkspace()
  const { task: id = '' } = useParams()
  const query = useQuery({
    ...queryOf('getTask', { ws: workspace.id, task: id }),
    refetchInterval: ({ state }) => (state.data && isTerminal(state.data.state) ? false : refreshMs),
  })

  const task = query.data
  const runs = useInfiniteQuery({
    ...pagesOf('listRuns', { ws: workspace.id, query: { task_id: id, limit: 25 } }),
    refetchInterval: task && isTerminal(task.state) && hasAllRuns(task) ? false : refreshMs,
  })
  return (
    <>
      <PageHeader
        title={task?.name ?? 'Task'}
        parent={{ label: 'Tasks', to: to.tasks() }}
        badge={task && <StateBadge state={task.state} />}
        actions={task && <TaskActions task={task} />}
      />
      <Loaded query={query}>
        {task => (
          <>
            {task.blocked && <Blocked blocked={task.blocked} />}
            <Columns>
              <Stack>
                <section className={styles.section}>
                  <h2>Runs</h2>
                  <RunTable list={runs} empty={<p>{emptyText(task)}</p>} withAttempt />
                </section>
                <RequestPreview
                  draft={draftOf(task)}
                  facts={{ taskId: task.id, scheduledAt: task.execute_at, isCron: task.cronjob_id !== null }}
                />
              </Stack>
              <Stack>
                <Card label="History">
                  <div className={styles.section}>
                    <h2>History</h2>
                    <History task={task} runs={runs.data?.items ?? []} />
                  </div>
                </Card>
                <Card label="Details">
                  <Details task={task} />
                </Card>
              </Stack>
            </Columns>
          </>
        )}
      </Loaded>
    </>
  )
}

// The log contains an attempt a few seconds after its end.
function hasAllRuns({ finished_at }: TaskResource): boolean {
  return finished_at !== null && Date.now() - Date.parse(finished_at) > 15_000
}

function emptyText(task: TaskResource): string {
  if (task.attempts === 0) return 'No runs yet.'
  return hasAllRuns(task) ? 'The runs are no longer in the log.' : 'The first run is in progress.'
}

function History({ task, runs }: { task: TaskResource; runs: readonly Run[] }) {
  const { to } = useWorkspace()
  return (
    <ol className={styles.history}>
      {historyOf(task, runs).map(({ at, text, tone, runId }) => (
        <li key={`${at} ${text}`} className={tone === 'plain' ? undefined : styles[tone]}>
          <div>
            {runId ? <Link to={to.run(runId)}>{text}</Link> : text}
            <div className={styles.faint}>
              <AbsoluteTime at={at} /> · <RelativeTime at={at} />
            </div>
          </div>
        </li>
      ))}
    </ol>
  )
}

function Details({ task }: { task: TaskResource }) {
  const { to } = useWorkspace()
  return (
    <DefinitionList
      rows={{
        Due: <AbsoluteTime at={task.execute_at} />,
        ID: <CopyableId id={task.id} />,
        'Cron job': task.cronjob_id && <Link to={to.cronJob(task.cronjob_id)}>View cron job</Link>,
        Connection: task.connection && <code>{task.connection}</code>,
        Queue: task.queue && <Link to={to.tasks(`?queue=${encodeURIComponent(task.queue)}`)}>{task.queue}</Link>,
        Topic: task.topic && <code>{task.topic}</code>,
        'Callback of': task.callback_of && <Link to={to.task(task.callback_of)}>View reported task</Link>,
        'Replay of': task.replay_of && <Link to={to.task(task.replay_of)}>View original task</Link>,
        Runs: `${task.attempts} of at most ${retryCount(task.retry) + 1}`,
        'Retry delays': describeDelays(task.retry),
        Timeout: formatDuration(task.timeout_ms),
        'Raw body': task.content_type && <code>{task.content_type}</code>,
        Callbacks: callbackEvents.some(event => task[event] !== null) && task.attempts > 0 && (
          <Link to={to.tasks(`?callback_of=${task.id}`)}>View callbacks</Link>
        ),
        'On success': task.on_success && <code>{task.on_success.url}</code>,
        'On failure': task.on_failure && <code>{task.on_failure.url}</code>,
        'After each run': task.on_attempt && <code>{task.on_attempt.url}</code>,
        Deadline: task.expires_at && <AbsoluteTime at={task.expires_at} />,
        Key: task.key !== null && <code>{task.key}</code>,
        Labels: task.labels.length > 0 && (
          <span className={styles.labels}>
            {task.labels.map(label => (
              <Link key={label} to={to.tasks(`?label=${encodeURIComponent(label)}`)}>
                {label}
              </Link>
            ))}
          </span>
        ),
      }}
    />
  )
}

type Reason = NonNullable<TaskResource['blocked']>

function Blocked({ blocked }: { blocked: Reason }) {
  const { to } = useWorkspace()
  return (
    <div className={styles.blocked} role="status">
      <CirclePause size={18} />
      <div>{textOf(blocked, to)}</div>
      {blocked.reason === 'circuit_open' && <CloseCircuit host={blocked.host} />}
    </div>
  )
}

function textOf(blocked: Reason, to: WorkspacePaths) {
  switch (blocked.reason) {
    case 'circuit_open':
      return (
        <p>
          Waiting for <Link to={to.host(blocked.host)}>{blocked.host}</Link>: too many calls failed, so its circuit
          breaker is open.{' '}
          {Date.parse(blocked.next_probe_at) > Date.now() ? (
            <>
              Next probe <RelativeTime at={blocked.next_probe_at} />.
            </>
          ) : (
            'Probing now.'
          )}
        </p>
      )
    case 'host_paused':
      return (
        <p>
          Waiting for <Link to={to.host(blocked.host)}>{blocked.host}</Link>: it was paused{' '}
          <RelativeTime at={blocked.since} />.
        </p>
      )
    case 'queue':
      return (
        <p>
          Waiting for the queue <Link to={to.queues()}>{blocked.queue}</Link>: it is paused or at its limit.
        </p>
      )
    case 'held':
      return (
        <p>
          <strong>Held</strong> since the restore of a backup: it may have been delivered after the backup.
        </p>
      )
  }
}

function TaskActions({ task }: { task: TaskResource }) {
  const { workspace, to } = useWorkspace()
  const navigate = useNavigate()
  const mayNotWrite = useRefusal('task.write')
  const { id, state } = task
  const ending = state === 'pending' || state === 'retrying' ? endings[state] : null
  return (
    <>
      {state === 'pending' && (
        <ButtonLink to={to.editTask(id)} icon={<Pencil size={15} />} refusal={mayNotWrite}>
          Edit
        </ButtonLink>
      )}
      <ButtonLink to={to.newTask(id)} icon={<CopyPlus size={15} />} refusal={mayNotWrite}>
        Duplicate
      </ButtonLink>
      {ending && (
        <ConfirmButton
          text={ending.label}
          kind="danger"
          icon={<Ban size={15} />}
          right="task.delete"
          title={ending.question}
          description={`“${task.name}” ${ending.about}`}
          action={`Yes, ${ending.label.toLowerCase()}`}
          run={() => call(ending.operation, { ws: workspace.id, task: id })}
          done={ending.done}
        />
      )}
      {isTerminal(state) && (
        <>
          <ButtonLink to={to.replayTask(id)} icon={<PencilLine size={15} />} refusal={mayNotWrite}>
            Replay with changes
          </ButtonLink>
          <ChangeButton
            text="Replay"
            icon={<RotateCw size={15} />}
            right="task.write"
            run={() => call('replayTask', { ws: workspace.id, task: id, body: {} })}
            onDone={again => navigate(to.task(again.id))}
            done="Replayed as a new task"
          />
        </>
      )}
    </>
  )
}

const endings = {
  pending: {
    operation: 'cancelTask',
    label: 'Cancel task',
    question: 'Cancel this task?',
    about: 'will not be delivered. It can be replayed later.',
    done: 'Task cancelled',
  },
  retrying: {
    operation: 'stopTask',
    label: 'Stop retries',
    question: 'Stop this task?',
    about: 'is not retried any more. It becomes a dead letter and can be replayed.',
    done: 'Task stopped',
  },
} as const
