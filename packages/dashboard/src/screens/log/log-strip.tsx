import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import type { Query } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Chart } from '../../ui/chart.tsx'
import type { Filters } from '../../ui/filter-bar.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import type { LogFilter } from './log-filters.ts'

const barHeight = 44
// The only filters that the statistics support.
const countedFilters: readonly string[] = ['workspace', 'status', 'range', 'from', 'to']

type LogStripProps = { filters: Pick<Filters<LogFilter>, 'values' | 'first'>; time: Query }

/** Shows how many runs succeeded and failed over the time of the log. A bar opens its part of the log. */
export function LogStrip({ filters, time }: LogStripProps) {
  const { workspace, to } = useWorkspace()
  const [params] = useSearchParams()
  const { data: counts } = useQuery(
    queryOf('countRunsOverTime', { ws: workspace.id, query: { from: time.from, to: time.to } }),
  )
  const status = filters.first('status')
  if (!counts || counts.buckets.length === 0) return null
  const { buckets } = counts
  const succeeded = { label: 'Succeeded', values: buckets.map(({ total, failed }) => total - failed) }
  const failed = { label: 'Failed', values: buckets.map(bucket => bucket.failed), tone: 'bad' as const }
  const series = status === 'failed' ? [failed] : status === 'success' ? [succeeded] : [succeeded, failed]
  const data = { at: buckets.map(({ at }) => Date.parse(at)), series }
  const linkTo = (from: number, until: number) => {
    const next = new URLSearchParams(params)
    next.delete('range')
    next.set('from', new Date(from).toISOString())
    next.set('to', new Date(until).toISOString())
    return to.log(`?${next}`)
  }
  const isAnyTime = time.from === undefined && time.to === undefined
  const isAll = Object.keys(filters.values).some(name => !countedFilters.includes(name))
  const runs = status === 'failed' ? 'Failed runs' : status === 'success' ? 'Successful runs' : 'Runs'
  const title = `${runs}${isAll ? ' of the whole workspace' : ''} per ${formatDuration(counts.bucket_ms)}${isAnyTime ? ', last 24 hours' : ''}`
  return <Chart title={title} kind="bars" isCompact data={data} height={barHeight} linkTo={linkTo} />
}
