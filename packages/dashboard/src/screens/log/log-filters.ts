import type { ListQuery } from '../../api/page.ts'

/** The filters of the log in the URL. */
export const logFilters = [
  'workspace',
  'status',
  'source',
  'response_status',
  'range',
  'from',
  'to',
  'task_id',
  'cronjob_id',
  'topic',
] as const

export type LogFilter = (typeof logFilters)[number]
export type LogFilterValues = Readonly<Partial<Record<LogFilter, string[]>>>

export const ranges = [
  { value: '1h', label: 'Last hour', ms: 3_600_000 },
  { value: '24h', label: 'Last 24 hours', ms: 86_400_000 },
  { value: '7d', label: 'Last 7 days', ms: 7 * 86_400_000 },
  { value: '30d', label: 'Last 30 days', ms: 30 * 86_400_000 },
] as const

/** The range whose ends the user sets. */
export const customRange = 'custom'

/** Converts filters to an API query. A preset range starts its length before `now`. */
export function toLogQuery(values: LogFilterValues, now: Date): ListQuery {
  const { workspace: _workspace, range, from, to, ...query } = values
  const length = ranges.find(({ value }) => value === range?.[0])?.ms
  if (length !== undefined) return { ...query, from: new Date(now.getTime() - length).toISOString() }
  return { ...query, ...(from ? { from: from[0] } : {}), ...(to ? { to: to[0] } : {}) }
}

export type LogSearch =
  | { kind: 'run'; id: string }
  | { kind: 'filter'; name: 'task_id' | 'cronjob_id' | 'response_status' | 'topic'; value: string }

/** Interprets the search of the log: an id, a status code, or else a topic. */
export function parseSearch(text: string): LogSearch | null {
  const value = text.trim()
  if (value === '') return null
  if (/^run_[a-z0-9]{26}$/.test(value)) return { kind: 'run', id: value }
  if (/^task_[a-z0-9]{26}$/.test(value)) return { kind: 'filter', name: 'task_id', value }
  if (/^cron_[a-z0-9]{26}$/.test(value)) return { kind: 'filter', name: 'cronjob_id', value }
  if (/^[1-9](\d\d|xx)$/i.test(value)) return { kind: 'filter', name: 'response_status', value: value.toLowerCase() }
  return { kind: 'filter', name: 'topic', value }
}
