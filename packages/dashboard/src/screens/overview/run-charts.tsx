import type { Overview } from '@belfry/contract/overview'
import { type ReactNode, useMemo } from 'react'
import { useWorkspace } from '../../session/scope.ts'
import { Card } from '../../ui/card.tsx'
import { Chart } from '../../ui/chart.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import styles from './overview.module.css'

const chartHeight = 190

/** Charts of attempts, failures and lag. */
export function RunCharts({ overview }: { overview: Overview | undefined }): ReactNode {
  const { to } = useWorkspace()
  const data = useMemo(() => {
    const buckets = overview?.buckets ?? []
    const at = buckets.map(bucket => Date.parse(bucket.at))
    return {
      runs: {
        at,
        series: [
          { label: 'Succeeded', values: buckets.map(({ total, failed }) => total - failed) },
          { label: 'Failed', values: buckets.map(({ failed }) => failed) },
        ],
      },
      lag: {
        at,
        isDuration: true,
        series: [
          { label: 'p50', values: buckets.map(bucket => bucket.lag_p50_ms) },
          { label: 'p99', values: buckets.map(bucket => bucket.lag_p99_ms), tone: 'warn' as const },
        ],
      },
    }
  }, [overview])
  if (!overview) return ['a', 'b'].map(chart => <div key={chart} className={styles.skeleton} />)
  const step = formatDuration(overview.bucket_ms)
  const logOf = (from: number, until: number) =>
    to.log(`?${new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(until).toISOString() })}`)
  return (
    <>
      <Card label="Throughput">
        <Chart title={`Runs per ${step}`} kind="bars" data={data.runs} height={chartHeight} linkTo={logOf} />
      </Card>
      <Card label="Lag">
        <Chart title="Lag from due to start" data={data.lag} height={chartHeight} linkTo={logOf} />
      </Card>
    </>
  )
}
