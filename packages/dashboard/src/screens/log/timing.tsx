import type { Run } from '@belfry/contract'
import type { ReactNode } from 'react'
import { classNames } from '../../ui/class-names.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { AbsoluteTime } from '../../ui/time.tsx'
import { lateMs } from './late.ts'
import styles from './run.module.css'

/** When a run was due, when it started and when it ended, with what lies between as a bar. */
export function Timing({ run }: { run: Run }): ReactNode {
  const { lag_ms: lag, duration_ms: duration } = run
  // Neither part may vanish, however much longer the other one is.
  const part = (ms: number) => ({ flexGrow: Math.max(ms / Math.max(lag + duration, 1), 0.04) })
  return (
    <div className={styles.timing}>
      <div className={styles.bar} aria-hidden="true">
        <span className={classNames(styles.lag, lag >= lateMs && styles.late)} style={part(lag)} />
        <span className={styles.took} style={part(duration)} />
      </div>
      <dl className={styles.times}>
        <div>
          <dt>Due</dt>
          <dd>
            <AbsoluteTime at={run.scheduled_at} />
          </dd>
        </div>
        <div className={classNames(lag >= lateMs && styles.late)}>
          <dt className={styles.lagName}>Started late by</dt>
          <dd>{formatDuration(lag)}</dd>
        </div>
        <div>
          <dt className={styles.tookName}>Took</dt>
          <dd>{formatDuration(duration)}</dd>
        </div>
        <div>
          <dt>Ended</dt>
          <dd>
            <AbsoluteTime at={run.finished_at} />
          </dd>
        </div>
      </dl>
    </div>
  )
}
