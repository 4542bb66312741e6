import type { Run } from '@belfry/contract/run'
import { requestHost } from '@belfry/domain/run-filter'
import { lateMs } from '@belfry/domain/wait-reason'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { queryOf } from '../../api/queries.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { AbsoluteTime } from '../../ui/time.tsx'
import { type CallStep, callSteps, isReused } from './call-steps.ts'
import styles from './run.module.css'

/** Shows when a run was due and when it finished, with its lag and duration as a bar, and the steps of its call. */
export function Timing({ run }: { run: Run }): ReactNode {
  const { lag_ms: lag, duration_ms: duration } = run
  // The shorter part stays visible.
  const part = (ms: number) => ({ flexGrow: Math.max(ms / Math.max(lag + duration, 1), 0.04) })
  return (
    <div className={styles.timing}>
      <div className={styles.bar} aria-hidden="true">
        <span className={classNames(styles.lag, lag >= lateMs && styles.late)} style={part(lag)} />
        <span className={styles.duration} style={part(duration)} />
      </div>
      <div className={styles.scale} aria-hidden="true">
        <span>0</span>
        <span>{formatDuration(lag + duration)}</span>
      </div>
      <dl className={styles.times}>
        <div>
          <dt>Due</dt>
          <dd>
            <AbsoluteTime at={run.scheduled_at} jobZone={run.cronjob_timezone} />
          </dd>
        </div>
        <div className={classNames(lag >= lateMs && styles.late)}>
          <dt className={styles.lagName}>Lag</dt>
          <dd>{formatDuration(lag)}</dd>
        </div>
        <div>
          <dt className={styles.durationName}>Duration</dt>
          <dd>{formatDuration(duration)}</dd>
        </div>
        <div>
          <dt>Finished</dt>
          <dd>
            <AbsoluteTime at={run.finished_at} jobZone={run.cronjob_timezone} />
          </dd>
        </div>
      </dl>
      <LateReason run={run} />
      <CallStepsBar run={run} />
    </div>
  )
}

const names: Record<CallStep['id'], string> = {
  dns: 'DNS',
  connect: 'Connect',
  tls: 'TLS',
  firstByte: 'First byte',
  reading: 'Reading',
}

/** Shows how long the steps of a call took, as a bar and as text. */
function CallStepsBar({ run }: { run: Run }): ReactNode {
  const { timings } = run
  const steps = callSteps(run)
  if (timings === null || steps === null) return null
  const part = (ms: number) => ({ flexGrow: ms / Math.max(run.duration_ms, 1) })
  return (
    <>
      <div className={styles.bar} aria-hidden="true">
        {steps
          .filter(({ ms }) => ms > 0)
          .map(({ id, ms, isIncomplete }) => (
            <span key={id} className={classNames(styles[id], isIncomplete && styles.incomplete)} style={part(ms)} />
          ))}
      </div>
      <div className={styles.scale} aria-hidden="true">
        <span>0</span>
        <span>{formatDuration(run.duration_ms)}</span>
      </div>
      <dl className={styles.steps} aria-label="Steps of the call">
        {isReused(timings) && (
          <div>
            <dt>Connection</dt>
            <dd>reused</dd>
          </div>
        )}
        {steps.map(({ id, ms, isIncomplete }) => (
          <div key={id}>
            <dt className={classNames(styles.step, styles[id], isIncomplete && styles.incomplete)}>{names[id]}</dt>
            <dd>
              {formatDuration(ms)}
              {isIncomplete && ', not completed'}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

type Reason = NonNullable<Run['waited_for']>

/** Says why a run started late, or waited for its queue before it was due. */
function LateReason({ run }: { run: Run }): ReactNode {
  if (run.waited_for === 'queue') return <QueueWait run={run} />
  if (run.lag_ms < lateMs) return null
  return (
    <p className={styles.note}>
      Started late: {run.waited_for === null ? 'the reason is not known.' : <Text reason={run.waited_for} run={run} />}
    </p>
  )
}

function QueueWait({ run }: { run: Run }): ReactNode {
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

function Text({ reason, run }: { reason: Exclude<Reason, 'queue'>; run: Run }): ReactNode {
  const { to } = useWorkspace()
  const host = (
    <Link to={to.host(requestHost(run.url))}>
      <bdi>{requestHost(run.url)}</bdi>
    </Link>
  )
  switch (reason) {
    case 'scheduler':
      return 'the occurrence was missed, and caught up on later.'
    case 'dispatcher':
      return 'no dispatcher was running when it was due, or it stood still.'
    case 'backlog':
      return 'more tasks were due than the dispatchers could hold.'
    case 'slot':
      return 'the dispatcher was busy with other calls.'
    case 'database':
      return 'PostgreSQL was slow to answer.'
    case 'circuit_breaker':
      return <>the circuit breaker of {host} was open.</>
    case 'host_paused':
      return <>{host} was paused.</>
    case 'host_concurrency':
      return <>calls to {host} were at their limit.</>
    case 'host_rate':
      return <>calls per second to {host} were at their limit.</>
  }
}
