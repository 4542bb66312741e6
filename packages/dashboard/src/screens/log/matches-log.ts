import type { Run } from '@belfry/contract/run'
import type { ListQuery } from '../../api/page.ts'
import { hostOf } from './host-of.ts'

/** Returns whether a new run matches the filters of a log, by the rules of the API. */
export function matchesLog(query: ListQuery, run: Run): boolean {
  const isAmong = (name: string, value: string | null) => value !== null && listOf(query[name]).includes(value)
  const matches = (name: string, value: string | null) =>
    (listOf(query[name]).length === 0 || isAmong(name, value)) && !isAmong(`not_${name}`, value)
  const [from] = listOf(query.from)
  const [to] = listOf(query.to)
  const startedAt = Date.parse(run.started_at)
  return (
    matches('workspace_id', run.workspace_id) &&
    matches('status', run.status) &&
    matches('source', run.source) &&
    matches('task_id', run.task_id) &&
    matches('cronjob_id', run.cronjob_id) &&
    matches('topic', run.topic) &&
    matches('error', run.error?.code ?? null) &&
    matches('host', hostOf(run.url)) &&
    listOf(query.name).every(name => run.task_name.startsWith(name)) &&
    !listOf(query.not_name).some(name => run.task_name.startsWith(name)) &&
    (query.response_status === undefined || hasStatus(query.response_status, run)) &&
    !hasStatus(query.not_response_status, run) &&
    (from === undefined || startedAt >= Date.parse(from)) &&
    (to === undefined || startedAt < Date.parse(to))
  )
}

function hasStatus(wanted: ListQuery[string], { response_status: status }: Run): boolean {
  if (status === null) return false
  return listOf(wanted).some(one => one === String(status) || one.toLowerCase() === `${Math.floor(status / 100)}xx`)
}

function listOf(value: ListQuery[string]): string[] {
  return [value ?? []].flat().map(String)
}
