import type { Run } from '@belfry/contract'
import type { ListQuery } from '../../api/page.ts'
import { hostOf } from './host-of.ts'

/** Returns whether a new run matches the filters of a log, by the rules of the API. */
export function matchesLog(query: ListQuery, run: Run): boolean {
  const matches = (name: string, value: string | null) => {
    const wanted = listOf(query[name])
    return wanted.length === 0 || (value !== null && wanted.includes(value))
  }
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
    matchesStatus(listOf(query.response_status), run.response_status) &&
    (from === undefined || startedAt >= Date.parse(from)) &&
    (to === undefined || startedAt < Date.parse(to))
  )
}

function matchesStatus(wanted: readonly string[], status: number | null): boolean {
  if (wanted.length === 0) return true
  if (status === null) return false
  return wanted.some(one => one === String(status) || one.toLowerCase() === `${Math.floor(status / 100)}xx`)
}

function listOf(value: ListQuery[string]): string[] {
  return [value ?? []].flat().map(String)
}
