import type { RunTimeNote } from '@belfry/contract/cron-job'
import { TriangleAlert } from 'lucide-react'
import { Fragment } from 'react'
import { formatMinute, viewerZone } from '../../ui/format-time.ts'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './cron-jobs.module.css'

type NextRunsProps = { runs: readonly string[]; notes: readonly RunTimeNote[]; timezone: string }

export function NextRuns({ runs, notes, timezone }: NextRunsProps) {
  const viewer = viewerZone()
  const isElsewhere = viewer !== timezone
  return (
    <table className={styles.runs} aria-label="Next runs">
      <thead>
        <tr>
          <th scope="col">{timezone}</th>
          {isElsewhere && <th scope="col">Local ({viewer})</th>}
          <th scope="col" className={styles.distance}>
            From now
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map(at => (
          <Fragment key={at}>
            <tr>
              <td>{formatMinute(new Date(at), timezone)}</td>
              {isElsewhere && <td>{formatMinute(new Date(at))}</td>}
              <td className={styles.distance}>
                <RelativeTime at={at} />
              </td>
            </tr>
            <Note note={notes.find(note => note.at === at)} />
          </Fragment>
        ))}
      </tbody>
    </table>
  )
}

function Note({ note }: { note: RunTimeNote | undefined }) {
  if (!note) return null
  const time = note.local.slice(11)
  return (
    <tr>
      <td colSpan={3} className={styles.moved}>
        <TriangleAlert size={14} />
        {note.code === 'clock_gap'
          ? `Clocks go forward: ${time} does not exist on this day. It runs right after the change.`
          : `Clocks go back: ${time} occurs twice on this day. It runs the first time.`}
      </td>
    </tr>
  )
}
