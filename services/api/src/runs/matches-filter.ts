import type { StoredLine } from '@belfry/present/stored-rows'
import type { RunFilter } from './run-scan.ts'

/** Returns whether a run matches the filter of a list, by the rules of `scanRuns`. */
export function matchesFilter({ run, request }: StoredLine, filter: RunFilter): boolean {
  const startedAt = new Date(run.started_at)
  return (
    isAmong(filter.status, run.status) &&
    isAmong(filter.source, run.source) &&
    isAmong(filter.task_id, run.task_id) &&
    isAmong(filter.cronjob_id, run.cron_job_id) &&
    isAmong(filter.topic, run.topic) &&
    isAmong(filter.error, run.error_code) &&
    (filter.label?.some(label => request.labels?.includes(label)) ?? true) &&
    hasStatus(filter.response_status, run.response_status) &&
    request.name.startsWith(filter.name ?? '') &&
    (filter.host?.some(host => host.toLowerCase() === hostOf(request.url)) ?? true) &&
    !isExcluded({ run, request }, filter) &&
    (filter.from === undefined || startedAt >= filter.from) &&
    (filter.to === undefined || startedAt < filter.to)
  )
}

function isExcluded({ run, request }: Pick<StoredLine, 'run' | 'request'>, filter: RunFilter): boolean {
  const { not_source = [], not_cronjob_id = [], not_topic = [], not_error = [], not_response_status = [] } = filter
  const { not_name = [], not_host = [] } = filter
  return (
    isAmong(not_source, run.source) ||
    isAmong(not_cronjob_id, run.cron_job_id) ||
    isAmong(not_topic, run.topic) ||
    isAmong(not_error, run.error_code) ||
    hasStatus(not_response_status, run.response_status) ||
    not_name.some(name => request.name.startsWith(name)) ||
    not_host.some(host => host.toLowerCase() === hostOf(request.url))
  )
}

function isAmong<T>(wanted: readonly T[] | undefined, value: T | null): boolean {
  return wanted === undefined || (value !== null && wanted.includes(value))
}

function hasStatus(ranges: RunFilter['response_status'], status: number | null): boolean {
  return ranges?.some(({ from, to }) => status !== null && status >= from && status <= to) ?? true
}

// The same as `hostOfRequest` in SQL.
function hostOf(url: string): string {
  return (/^[^:]+:\/\/([^/#?]+)/.exec(url)?.[1] ?? url).toLowerCase()
}
