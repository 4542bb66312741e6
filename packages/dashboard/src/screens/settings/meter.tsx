import type { ReactNode } from 'react'
import { Badge } from '../../ui/badge.tsx'
import styles from './settings.module.css'

type MeterProps = { title: string; used: number; limit: number; format(amount: number): string }

/** How much of a limit is used; it warns where Belfry also writes to the owners. */
export function Meter({ title, used, limit, format }: MeterProps): ReactNode {
  const share = limit === 0 ? 1 : used / limit
  return (
    <div className={styles.tile}>
      <h3>{title}</h3>
      <p>
        {format(used)} <span>of {format(limit)}</span>{' '}
        {share >= 1 ? (
          <Badge tone="bad">Reached</Badge>
        ) : share >= 0.8 ? (
          <Badge tone="warn">Nearly reached</Badge>
        ) : null}
      </p>
      <meter aria-label={title} min={0} max={1} low={0.8} high={0.999} optimum={0} value={Math.min(share, 1)} />
    </div>
  )
}
