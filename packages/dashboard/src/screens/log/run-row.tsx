import type { Run } from '@belfry/contract/run'
import { requestHost } from '@belfry/domain/run-filter'
import { lateMs } from '@belfry/domain/wait-reason'
import { memo } from 'react'
import { Link, useLocation } from 'react-router'
import { outcomeText } from '../../layout/error-labels.ts'
import { paths } from '../../paths.ts'
import { useOrganization } from '../../session/scope.ts'
import { classNames } from '../../ui/class-names.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { StateBadge } from '../../ui/state-badge.tsx'
import { Skeleton } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './log.module.css'

/** The index of a row, without the header row, and the height of every row in pixels. */
type Place = { index: number; height: number }

type RunRowProps = Place & {
  run: Run
  /** Shows the workspace of the run. */
  isOrganizationWide: boolean
  isOpen: boolean
  isFresh: boolean
  onFocus(index: number, to: string): void
  isSelected: boolean
  /** Undefined for a user who may not act on runs. */
  onSelect: ((run: Run, isSelected: boolean) => void) | undefined
}

/** One attempt in the log. It renders again only when it changes, not on every scroll. */
export const RunRow = memo(Row)

function Row({ run, isOrganizationWide, isOpen, isFresh, onFocus, isSelected, onSelect, ...place }: RunRowProps) {
  const { index } = place
  const { organization, workspaces } = useOrganization()
  const { search } = useLocation()
  const to = paths.workspace(organization.slug, run.workspace_id).run(run.id) + search
  const workspace = isOrganizationWide && workspaces.find(({ id }) => id === run.workspace_id)?.name
  return (
    <tr
      {...positionOf(place)}
      className={classNames(styles.row, styles.run, isOpen && styles.opened, isFresh && styles.fresh)}
    >
      <td className={styles.status}>
        {onSelect && (
          <input
            type="checkbox"
            className={styles.select}
            aria-label={`Select run of ${run.task_name}`}
            checked={isSelected}
            onChange={event => onSelect(run, event.target.checked)}
          />
        )}
        <StateBadge state={run.status} />
      </td>
      <td className={styles.task}>
        <Link
          to={to}
          preventScrollReset
          className={styles.link}
          data-row-link={index}
          data-run={run.id}
          aria-current={isOpen ? 'true' : undefined}
          onFocus={() => onFocus(index, to)}
        >
          <bdi>{run.task_name}</bdi>
        </Link>
        {workspace && <span className={styles.workspace}>{workspace}</span>}
        <span className={styles.second}>
          {run.method} <bdi>{requestHost(run.url)}</bdi>
          {run.attempt > 1 && ` · run ${run.attempt}`}
        </span>
      </td>
      <td className={styles.response}>{outcomeText(run.response_status, run.error?.code)}</td>
      <td className={classNames(styles.number, styles.lag, run.lag_ms >= lateMs && styles.late)}>
        {formatDuration(run.lag_ms)}
      </td>
      <td className={styles.number}>{formatDuration(run.duration_ms)}</td>
      <td className={classNames(styles.number, styles.when)}>
        <RelativeTime at={run.started_at} jobZone={run.cronjob_timezone} />
      </td>
    </tr>
  )
}

/** A placeholder for a row that is loading. It has few elements, because fast scrolling shows many. */
export function SkeletonRow(place: Place) {
  return (
    <tr {...positionOf(place)} className={classNames(styles.row, styles.run)}>
      <td className={styles.bones}>
        <Skeleton />
      </td>
    </tr>
  )
}

function positionOf({ index, height }: Place) {
  return { 'aria-rowindex': index + 2, style: { height, transform: `translateY(${index * height}px)` } }
}
