import type { ReactNode } from 'react'
import type { RecentRun } from '../../api/cron-jobs.ts'

const [width, height, step] = [96, 22, 4]

/** A bar for each recent run, as high as its duration. Failed runs are red and full height; dots fill the rest. */
export function RunSpark({ runs }: { runs: readonly RecentRun[] | undefined }): ReactNode {
  if (!runs || runs.length === 0) return '–'
  const maxDuration = Math.max(...runs.map(({ duration_ms }) => duration_ms), 1)
  const failed = runs.filter(({ status }) => status === 'failed').length
  const capacity = width / step
  const first = Math.max(0, capacity - runs.length)
  return (
    <svg
      width={width}
      height={height}
      role="img"
      aria-label={`${runs.length} recent ${runs.length === 1 ? 'run' : 'runs'}, ${failed} failed`}
    >
      {Array.from({ length: first }, (_, index) => (
        <rect
          key={index * step}
          x={index * step}
          y={height - 2}
          width={step - 1}
          height={2}
          rx={1}
          fill="var(--line-strong)"
        />
      ))}
      {runs.map(({ id, status, duration_ms }, index) => {
        const high = status === 'failed' ? height : 5 + Math.round((duration_ms / maxDuration) * (height - 9))
        const y = status === 'failed' ? 0 : height - high
        const fill = status === 'failed' ? 'var(--bad)' : 'var(--accent)'
        return <rect key={id} x={(first + index) * step} y={y} width={step - 1} height={high} rx={1} fill={fill} />
      })}
    </svg>
  )
}
