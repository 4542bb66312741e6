import { Badge } from './badge.tsx'
import styles from './layout.module.css'

type MeterProps = { title: string; used: number; limit: number | null; format(amount: number): string }

/** How much of a limit is used. Warns at the same shares at which Belfry emails the owners. */
export function Meter({ title, used, limit, format }: MeterProps) {
  const share = limit === null ? 0 : limit === 0 ? 1 : used / limit
  return (
    <div className={styles.meter}>
      <h2>{title}</h2>
      <p>
        {format(used)} <span>{limit === null ? 'Unlimited' : `of ${format(limit)}`}</span>{' '}
        {share >= 1 && <Badge tone="bad">Limit reached</Badge>}
        {share >= 0.8 && share < 1 && <Badge tone="warn">Near limit</Badge>}
      </p>
      {limit !== null && (
        <meter aria-label={title} min={0} max={1} low={0.8} high={0.999} optimum={0} value={Math.min(share, 1)} />
      )}
    </div>
  )
}
