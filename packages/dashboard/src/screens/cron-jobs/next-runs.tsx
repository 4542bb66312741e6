import type { RunTimeNote } from '@belfry/contract'
import type { ReactNode } from 'react'
import { formatAbsolute, viewerZone } from '../../ui/format-time.ts'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './cron-jobs.module.css'

type NextRunsProps = { runs: readonly string[]; notes: readonly RunTimeNote[]; timezone: string }

/** When a cron job fires next: on its own clocks, on the viewer's, and what a change of the clocks does to it. */
export function NextRuns({ runs, notes, timezone }: NextRunsProps): ReactNode {
  const viewer = viewerZone()
  const isElsewhere = viewer !== timezone
  return (
    <table className={styles.runs} aria-label="Next runs">
      <thead>
        <tr>
          <th scope="col">{timezone}</th>
          {isElsewhere && <th scope="col">Here ({viewer})</th>}
          <th scope="col">That is</th>
        </tr>
      </thead>
      <tbody>
        {runs.map(at => (
          <tr key={at}>
            <td>
              {formatAbsolute(new Date(at), timezone)}
              <Note note={notes.find(note => note.at === at)} />
            </td>
            {isElsewhere && <td>{formatAbsolute(new Date(at))}</td>}
            <td>
              <RelativeTime at={at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Note({ note }: { note: RunTimeNote | undefined }): ReactNode {
  if (!note) return null
  const time = note.local.slice(11)
  return (
    <span className={styles.moved}>
      {note.code === 'clock_gap'
        ? `⚠ The clocks go forward: there is no ${time} on this day. It runs right after the change.`
        : `⚠ The clocks go back: there are two ${time} on this day. It runs at the first.`}
    </span>
  )
}
