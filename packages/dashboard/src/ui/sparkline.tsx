import type { ReactNode } from 'react'

type SparklineProps = { values: readonly number[]; label: string; width?: number; height?: number }

/** A small line without axes. `label` says in words what it shows. */
export function Sparkline({ values, label, width = 88, height = 24 }: SparklineProps): ReactNode {
  const top = Math.max(...values, 1)
  const step = values.length > 1 ? (width - 2) / (values.length - 1) : 0
  const points = values.map((value, index) => `${1 + index * step},${height - 2 - (value / top) * (height - 4)}`)
  return (
    <svg width={width} height={height} role="img" aria-label={label}>
      <polyline points={points.join(' ')} fill="none" stroke="var(--accent)" strokeWidth="1.5" strokeLinejoin="round" />
    </svg>
  )
}
