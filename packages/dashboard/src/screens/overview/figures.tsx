import type { Overview } from '@belfry/contract/overview'
import type { ReactNode } from 'react'
import { formatCount, formatRate } from '../../ui/format-amount.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { Skeleton } from '../../ui/table.tsx'
import styles from './overview.module.css'

/** The key figures. */
export function Figures({ overview }: { overview: Overview | undefined }): ReactNode {
  const runs = overview?.runs
  const lag = overview?.lag
  const figures: ReadonlyArray<readonly [label: string, value: string | undefined, hint: string]> = [
    ['Success rate', runs && formatRate(runs.total - runs.failed, runs.total), 'of runs'],
    ['Runs', runs && formatCount(runs.total), 'including retries'],
    ['Failed', runs && formatCount(runs.failed), 'runs'],
    ['Lag p50', lag && (lag.p50_ms === null ? '–' : formatDuration(lag.p50_ms)), 'from due to start'],
    ['Lag p99', lag && (lag.p99_ms === null ? '–' : formatDuration(lag.p99_ms)), 'from due to start'],
  ]
  return (
    <dl className={styles.figures}>
      {figures.map(([label, value, hint]) => (
        <div key={label} className={styles.figure}>
          <dt>{label}</dt>
          <dd>
            <strong>{value ?? <Skeleton />}</strong>
            <span>{hint}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}
