import type { Run } from '@belfry/contract'
import type { ReactNode } from 'react'
import { messageOf } from '../../api/api-problem.ts'
import { Button } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format-amount.ts'
import { formatAbsolute } from '../../ui/format-time.ts'
import type { Filters } from '../../ui/use-filters.ts'
import styles from './log.module.css'
import type { LogFilter } from './log-filters.ts'
import type { LogView, RunLog } from './run-log.ts'

type LogEndProps = { view: LogView; log: RunLog; oldest: Run | undefined; filters: Filters<LogFilter> }

/** What is below the rows: how far they reach, and how it goes on. */
export function LogEnd({ view, log, oldest, filters }: LogEndProps): ReactNode {
  const count = formatCount(view.rowCount)
  switch (view.state) {
    case 'reading':
      return <p className={styles.foot}>{view.rowCount === 0 ? 'Reading…' : `${count} runs so far, reading on…`}</p>
    case 'idle':
      return <p className={styles.foot}>{count} runs so far. Scroll on for older ones.</p>
    case 'end':
      return (
        <p className={styles.foot}>
          {count} {view.rowCount === 1 ? 'run' : 'runs'}: that is all that the log holds.
        </p>
      )
    case 'failed':
      return (
        <p className={styles.foot} role="alert">
          {messageOf(view.error)}{' '}
          <Button size="small" onClick={() => void log.readOn()}>
            Try again
          </Button>
        </p>
      )
    case 'resting':
      return (
        <p className={styles.foot}>
          {view.rowCount === 0 ? 'Nothing found yet' : `${count} found`} among the newest runs.{' '}
          <Button size="small" onClick={() => void log.readOn()}>
            Search further back
          </Button>
        </p>
      )
    case 'full':
      return (
        <p className={styles.foot}>
          {count} runs are as many as one list shows.{' '}
          {oldest && (
            <Button size="small" onClick={() => filters.set('to', oldest.started_at)}>
              Go on before {formatAbsolute(new Date(oldest.started_at))}
            </Button>
          )}
        </p>
      )
  }
}
