/** A range of response statuses, both ends included. */
export type StatusRange = { from: number; to: number }

/**
 * A filter of the activity log: `from` <= started_at < `to`. A list means OR. Absent: any. `name` and `not_name` are prefixes.
 * A filter with `not_` leaves out the runs that match any of its values.
 */
export type RunFilter = Lists<(typeof includable)[number] | 'label' | Excludable | `not_${Excludable | 'name'}`> & {
  name?: string | undefined
  /** The minimum lag in milliseconds. */
  late_ms?: number | undefined
  response_status?: readonly StatusRange[] | undefined
  not_response_status?: readonly StatusRange[] | undefined
  from?: Date | undefined
  to?: Date | undefined
}
type Excludable = (typeof excludable)[number]
type Lists<Names extends string> = { [Name in Names]?: readonly string[] | undefined }

/** What a filter compares of a run in its public form. Its ids have the same form as the ids in the filter. */
export type FilteredRun = Record<
  (typeof includable)[number] | 'source' | 'task_name' | 'url' | 'scheduled_at' | 'started_at',
  string
> &
  Record<'cronjob_id' | 'topic', string | null> & {
    error: { code: string } | null
    response_status: number | null
    labels: readonly string[] | null
  }

/** Returns whether a run matches a filter, as the SQL of a list decides. */
export function matchesRun(filter: RunFilter, run: FilteredRun): boolean {
  const status = run.response_status
  const isWithin = ({ from, to }: StatusRange) => status !== null && status >= from && status <= to
  const startedAt = Date.parse(run.started_at)
  const { source, cronjob_id, topic } = run
  const included = { source, cronjob_id, topic, error: run.error?.code ?? null, host: requestHost(run.url) }
  const isAmong = (name: Excludable, values: readonly string[] = []) =>
    values.some(value => (name === 'host' ? value.toLowerCase() : value) === included[name])
  return (
    includable.every(name => filter[name]?.includes(run[name]) ?? true) &&
    excludable.every(
      name => (filter[name] === undefined || isAmong(name, filter[name])) && !isAmong(name, filter[`not_${name}`]),
    ) &&
    (filter.label?.some(label => run.labels?.includes(label)) ?? true) &&
    (filter.response_status?.some(isWithin) ?? true) &&
    !filter.not_response_status?.some(isWithin) &&
    run.task_name.startsWith(filter.name ?? '') &&
    (filter.late_ms === undefined || startedAt - Date.parse(run.scheduled_at) >= filter.late_ms) &&
    !filter.not_name?.some(name => run.task_name.startsWith(name)) &&
    (filter.from === undefined || startedAt >= filter.from.getTime()) &&
    (filter.to === undefined || startedAt < filter.to.getTime())
  )
}

const includable = ['workspace_id', 'status', 'task_id'] as const
const excludable = ['source', 'cronjob_id', 'topic', 'error', 'host'] as const

/** Parses a response status, or a class of statuses such as `5xx`. Returns null for other text. */
export function parseStatusRange(text: string): StatusRange | null {
  const [, digit, rest = ''] = /^([1-9])(xx|\d\d)$/i.exec(text) ?? []
  if (digit === undefined) return null
  const from = Number(digit + rest.replaceAll(/x/gi, '0'))
  return { from, to: from + (/x/i.test(rest) ? 99 : 0) }
}

/** Returns the host of a request's URL with its port, as the log compares and shows it: as it is written, in lower case. */
export function requestHost(url: string): string {
  return (/^[^:]+:\/\/([^/?#]+)/.exec(url)?.[1] ?? url).toLowerCase()
}
