import { useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { ApiProblem } from '../api/api-problem.ts'
import { queryOf } from '../api/queries.ts'
import { classNames } from '../ui/class-names.ts'
import { RelativeTime } from '../ui/time.tsx'
import { findOutage } from './find-outage.ts'
import styles from './outage-banner.module.css'

/** Says on every page of a workspace when nothing is delivered, and why. */
export function OutageBanner({ workspaceId }: { workspaceId: string }): ReactNode {
  const { data, error } = useQuery(queryOf('getStatus', { ws: workspaceId }))
  const outage = findOutage(data, error instanceof ApiProblem ? error.status : null)
  return (
    <div role="status">
      {outage && (
        <p className={classNames(styles.banner, styles[outage.tone])}>
          <TriangleAlert size={17} aria-hidden="true" />
          <span>
            {outage.text}
            {outage.since && (
              <>
                {' '}
                Last seen <RelativeTime at={outage.since} />.
              </>
            )}
          </span>
        </p>
      )}
    </div>
  )
}
