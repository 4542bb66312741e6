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
import styles from './run.module.css'

/** Shows when a run was due and when it finished, with its lag and duration as a bar, and the steps of its call. */
export function Timing({ run }: { run: Run }) {
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
      {(lag >= lateMs || run.waited_for === 'queue') && <LateReason run={run} />}
      <CallStepsBar run={run} />
    </div>
  )
}

/** Says why a run started late, or waited for its queue before it was due. */
function LateReason({ run }: { run: Run }) {
  const { to } = useWorkspace()
  if (run.waited_for === 'queue') return <QueueWait run={run} />
  const host = (
    <Link to={to.host(requestHost(run.url))}>
      <bdi>{requestHost(run.url)}</bdi>
    </Link>
  )
  const texts: Record<Exclude<NonNullable<Run['waited_for']>, 'queue'>, ReactNode> = {
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
  return (
    <p className={styles.note}>
      Started late: {run.waited_for === null ? 'the reason is not known.' : texts[run.waited_for]}
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

const names = {
  dns: 'DNS',
  connect: 'Connect',
  tls: 'TLS',
  firstByte: 'First byte',
  reading: 'Reading',
}

function CallStepsBar({ run }: { run: Run }) {
  const steps = callSteps(run)
  if (steps === null) return null
  const isReused = steps[0]?.id !== 'dns' // the call used a kept-alive connection
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
        {isReused && (
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

type CallStep = {
  id: keyof typeof names
  ms: number
  /** Whether the call ended in this step. */
  isIncomplete: boolean
}

type Timings = NonNullable<Run['timings']>
type Measured = [id: CallStep['id'], ms: number | null]

/**
 * Returns the steps of a call in their order. Together they took its duration. The first step without a time is the one in which
 * the call ended. Null when nothing was measured.
 */
export function callSteps({ timings, duration_ms: duration, url }: Run): CallStep[] | null {
  if (timings === null) return null
  const opening = timings.dns_ms === null ? [] : openingSteps(timings, url)
  const steps: CallStep[] = []
  let rest = duration
  for (const [id, ms] of [...opening, ['firstByte', timings.first_byte_ms] satisfies Measured]) {
    if (ms === null) return [...steps, { id, ms: rest, isIncomplete: true }]
    steps.push({ id, ms, isIncomplete: false })
    rest = Math.max(rest - ms, 0) // each time is rounded
  }
  return [...steps, { id: 'reading', ms: rest, isIncomplete: false }]
}

// The URL may be the value of a secret.
function openingSteps({ dns_ms, connect_ms, tls_ms }: Timings, url: string): Measured[] {
  const tls: Measured[] = tls_ms !== null || url.startsWith('https:') ? [['tls', tls_ms]] : []
  return [['dns', dns_ms], ['connect', connect_ms], ...tls]
}
