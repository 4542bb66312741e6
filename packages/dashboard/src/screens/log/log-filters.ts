import type { Found } from '@belfry/contract/overview'
import type { Query } from '../../api/call.ts'
import { dayMs, instantOf, wallDayOf } from '../../forms/when/zoned-time.ts'
import { errorLabels } from '../../layout/error-labels.ts'

export const rangeNames = ['range', 'from', 'to'] as const

const excludable = ['source', 'response_status', 'cronjob_id', 'topic', 'name', 'host', 'error'] as const

/** The filters of the log. `not_host` leaves out hosts. */
export const logFilters = [
  'workspace',
  'status',
  'task_id',
  'label',
  'late_ms',
  ...rangeNames,
  ...excludable,
  ...excludable.map(name => `not_${name}` as const),
] as const

export type LogFilter = (typeof logFilters)[number]
export type LogFilterValues = Readonly<Partial<Record<LogFilter, string[]>>>

export const ranges = [
  { value: '15m', label: 'Last 15 minutes', ms: 900_000 },
  { value: '1h', label: 'Last hour', ms: 3_600_000 },
  { value: '24h', label: 'Last 24 hours', ms: 86_400_000 },
  { value: '7d', label: 'Last 7 days', ms: 7 * 86_400_000 },
  { value: '30d', label: 'Last 30 days', ms: 30 * 86_400_000 },
] as const

/** The range whose ends the user sets. */
export const customRange = 'custom'

export const statusCodes = ['2xx', '3xx', '4xx', '404', '410', '429', '5xx', '500', '502', '503', '504'].map(value => {
  return { value, label: value }
})

/** Converts filters to an API query. A preset range starts its length before `now`, or with a day of the time zone. */
export function toLogQuery(values: LogFilterValues, now: Date, timeZone: string): Query {
  const { workspace: _workspace, range, from, to, ...query } = values
  const length = ranges.find(({ value }) => value === range?.[0])?.ms
  if (length !== undefined) return { ...query, from: new Date(now.getTime() - length).toISOString() }
  const days = daysOf(range?.[0], now, timeZone)
  if (days) return { ...query, from: days.from.toISOString(), to: days.to.toISOString() }
  return { ...query, ...(from ? { from: from[0] } : {}), ...(to ? { to: to[0] } : {}) }
}

function daysOf(range: string | undefined, now: Date, timeZone: string): { from: Date; to: Date } | null {
  const today = wallDayOf(now, timeZone)
  const at = (days: number, hour: number) => instantOf(today + days * dayMs + hour * 3_600_000, timeZone).at
  if (range === 'today') return { from: at(0, 0), to: at(1, 0) }
  if (range === 'yesterday') return { from: at(-1, 0), to: at(0, 0) }
  if (range !== 'night') return null
  const isOver = now >= at(0, 2)
  return { from: at(isOver ? 0 : -1, 2), to: at(isOver ? 0 : -1, 4) }
}

/** The filters that the log and the dead letters have in common, without the time range. */
export const sharedFilters = ['name', 'topic', 'label', 'host', 'error', 'response_status', 'cronjob_id'] as const

/**
 * Returns the query of the dead letters like the failed runs that a log shows, or null if the log also shows successes, or has
 * a filter that dead letters lack. The time range is left out, because dead letters are filtered by their due time.
 */
export function toDeadLetterQuery(values: LogFilterValues): string | null {
  const { status, range: _range, from: _from, to: _to, ...rest } = values
  const isFailuresOnly = rest.error !== undefined || (status?.length === 1 && status[0] === 'failed')
  const isNarrower = Object.keys(rest).some(name => !sharedFilters.some(shared => shared === name))
  // Of these, dead letters take one.
  const hasSeveral = [rest.topic, rest.label, rest.cronjob_id].some(given => (given?.length ?? 0) > 1)
  if (!isFailuresOnly || isNarrower || hasSeveral) return null
  const pairs = Object.entries(rest).flatMap(([name, given]) => given.map(value => [name, value]))
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}

/** The filters that a search sets. A new search replaces them. */
export const searchedFilters = ['name', 'label', 'host', 'topic', 'response_status', 'task_id', 'error'] as const

export type LogSearch =
  | { kind: 'run'; id: string }
  | { kind: 'filter'; name: (typeof searchedFilters)[number] | 'cronjob_id' | 'status'; value: string }

/** Interprets the search of the log: an id, a status, an error, or else one of the names that the API has found for it. */
export function parseSearch(text: string, found: readonly Found[]): LogSearch | null {
  const value = text.trim()
  const lower = value.toLowerCase()
  if (value === '') return null
  if (/^run_[a-z0-9]{26}$/.test(value)) return { kind: 'run', id: value }
  if (/^task_[a-z0-9]{26}$/.test(value)) return { kind: 'filter', name: 'task_id', value }
  if (/^cron_[a-z0-9]{26}$/.test(value)) return { kind: 'filter', name: 'cronjob_id', value }
  if (/^[1-9](\d\d|xx)$/.test(lower)) return { kind: 'filter', name: 'response_status', value: lower }
  if (lower === 'failed' || lower === 'success') return { kind: 'filter', name: 'status', value: lower }
  // As the log shows it.
  const error = lower.replaceAll(' ', '_')
  if (Object.hasOwn(errorLabels, error)) return { kind: 'filter', name: 'error', value: error }
  const byPreference = kinds.flatMap(kind => found.filter(one => one.kind === kind))
  const exact = byPreference.find(({ name }) => name.toLowerCase() === lower)
  if (exact) return toFilter(exact)
  const tasks = found.filter(({ kind }) => kind === 'task')
  // The filter of names is a prefix.
  if (tasks.some(({ name }) => name.startsWith(value))) return { kind: 'filter', name: 'name', value }
  const likely = tasks[0] ?? byPreference[0]
  return likely ? toFilter(likely) : { kind: 'filter', name: 'name', value }
}

const kinds = ['host', 'topic', 'label', 'task', 'cron_job'] as const

function toFilter({ kind, id, name: value }: Found): LogSearch {
  if (kind === 'cron_job') return { kind: 'filter', name: 'cronjob_id', value: id ?? '' }
  return { kind: 'filter', name: kind === 'host' || kind === 'topic' || kind === 'label' ? kind : 'name', value }
}
