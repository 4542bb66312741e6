import type { Run } from '@belfry/contract/run'
import { lateMs } from '@belfry/domain/wait-reason'
import type { ReactNode } from 'react'
import { classNames } from '../../ui/class-names.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { latePart } from '../../ui/late-part.tsx'
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
      {(lag >= lateMs || run.waited_for === 'queue') && <LateReason run={run} />}
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

// Loaded for a late run: most are on time.
const LateReason = latePart(async () => (await import('./late-reason.tsx')).LateReason)
