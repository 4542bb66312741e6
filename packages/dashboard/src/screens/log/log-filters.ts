import type { ListQuery } from '../../api/page.ts'

/** What the log's address may name. */
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

/** The name of the range whose ends are given by themselves. */
export const customRange = 'custom'

/** Makes the API's query out of what the address says. A range ends where now is when it is chosen. */
export function toLogQuery(values: LogFilterValues, now: Date): ListQuery {
  const { workspace: _workspace, range, from, to, ...query } = values
  const length = ranges.find(({ value }) => value === range?.[0])?.ms
  if (length !== undefined) return { ...query, from: new Date(now.getTime() - length).toISOString() }
  return { ...query, ...(from ? { from: from[0] } : {}), ...(to ? { to: to[0] } : {}) }
}

/** A time of the API's as an input for local times takes it, to the second. */
export function toLocalInput(at: string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return ''
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19)
}

/** The inverse: a local time as the API takes it; empty for what is no time. */
export function fromLocalInput(text: string): string {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
