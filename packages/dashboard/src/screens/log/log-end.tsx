import type { Run } from '@belfry/contract/run'
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

/** The footer of the log: how many runs are loaded, and how to load more. */
export function LogEnd({ view, log, oldest, filters }: LogEndProps): ReactNode {
  const count = formatCount(view.rowCount)
  const slower = view.isFromStorage && ' · from object storage, slower'
  switch (view.state) {
    case 'reading':
      return (
        <p className={styles.foot}>
          {view.rowCount === 0 ? 'Loading…' : 'Loading more…'}
          {slower}
        </p>
      )
    case 'idle':
      return <p className={styles.foot}>Scroll for older runs{slower}</p>
    case 'end':
      return (
        <p className={styles.foot}>
          {count} {view.rowCount === 1 ? 'run' : 'runs'} · end of log{slower}
        </p>
      )
    case 'failed':
      return (
        <p className={styles.foot} role="alert">
          {messageOf(view.error)}{' '}
          <Button size="small" onClick={() => void log.readMore()}>
            Try again
          </Button>
        </p>
      )
    case 'stopped':
      return (
        <p className={styles.foot}>
          {view.rowCount === 0 ? 'No matches' : `${count} matches`} in the newest runs{slower}{' '}
          <Button size="small" onClick={() => void log.readMore()}>
            Search older runs
          </Button>
        </p>
      )
    case 'full':
      return (
        <p className={styles.foot}>
          {count} runs · list limit reached{' '}
          {oldest && (
            <Button size="small" onClick={() => filters.set('to', oldest.started_at)}>
              Show runs before {formatAbsolute(new Date(oldest.started_at))}
            </Button>
          )}
        </p>
      )
  }
}
