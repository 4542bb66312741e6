import type { Run } from '@belfry/contract/run'
import { requestHost } from '@belfry/domain/run-filter'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { queryOf } from '../../api/queries.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import styles from './run.module.css'

type Reason = NonNullable<Run['waited_for']>

/** Says why a run started late, or waited for its queue before it was due. */
export function LateReason({ run }: { run: Run }) {
  if (run.waited_for === 'queue') return <QueueWait run={run} />
  return (
    <p className={styles.note}>
      Started late: {run.waited_for === null ? 'the reason is not known.' : <Text reason={run.waited_for} run={run} />}
    </p>
  )
}

function QueueWait({ run }: { run: Run }) {
  const { workspace, to } = useWorkspace()
  const { data: task } = useQuery(queryOf('getTask', { ws: workspace.id, task: run.task_id }))
  const waitMs = task && Date.parse(run.scheduled_at) - Date.parse(task.execute_at)
  return (
    <p className={styles.note}>
      Waited{waitMs ? ` ${formatDuration(waitMs)}` : ''} for its <Link to={to.queues()}>queue</Link>
      {task?.queue && (
        <>
          {' '}
          <code>{task.queue}</code>
        </>
      )}
      , which was paused or at its limit.
    </p>
  )
}

function Text({ reason, run }: { reason: Exclude<Reason, 'queue'>; run: Run }) {
  const { to } = useWorkspace()
  const host = (
    <Link to={to.host(requestHost(run.url))}>
      <bdi>{requestHost(run.url)}</bdi>
    </Link>
  )
  const texts: Record<typeof reason, ReactNode> = {
    scheduler: 'the occurrence was missed, and caught up on later.',
    dispatcher: 'no dispatcher was running when it was due, or it stood still.',
    backlog: 'more tasks were due than the dispatchers could hold.',
    slot: 'the dispatcher was busy with other calls.',
    database: 'PostgreSQL was slow to answer.',
    circuit_breaker: <>the circuit breaker of {host} was open.</>,
    host_paused: <>{host} was paused.</>,
    host_concurrency: <>calls to {host} were at their limit.</>,
    host_rate: <>calls per second to {host} were at their limit.</>,
  }
  return texts[reason]
}
