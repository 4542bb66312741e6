import type { Run } from '@belfry/contract/run'
import type { ReactNode } from 'react'
import { classNames } from '../../ui/class-names.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { type CallStep, callSteps, isReused } from './call-steps.ts'
import styles from './run.module.css'

const names: Record<CallStep['id'], string> = {
  dns: 'DNS',
  connect: 'Connect',
  tls: 'TLS',
  firstByte: 'First byte',
  reading: 'Reading',
}

/** Shows how long the steps of a call took, as a bar and as text. */
export function CallStepsBar({ run }: { run: Run }): ReactNode {
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
