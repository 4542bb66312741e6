import type { Run } from '@belfry/contract/run'
import { lateMs } from '@belfry/domain/wait-reason'
import type { ReactNode } from 'react'
import { classNames } from '../../ui/class-names.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { AbsoluteTime } from '../../ui/time.tsx'
import { CallStepsBar } from './call-steps-bar.tsx'
import { LateReason } from './late-reason.tsx'
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
            <AbsoluteTime at={run.scheduled_at} />
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
            <AbsoluteTime at={run.finished_at} />
          </dd>
        </div>
      </dl>
      <LateReason run={run} />
      <CallStepsBar run={run} />
    </div>
  )
}
