import type { Run } from '@belfry/contract'
import type { ListQuery } from '../../api/page.ts'

/** Whether a run that has just ended belongs into a log with these filters, as the API would decide it. */
export function matchesLog(query: ListQuery, run: Run): boolean {
  const isAmong = (name: string, value: string | null) => {
    const wanted = listOf(query[name])
    return wanted.length === 0 || (value !== null && wanted.includes(value))
  }
  const [from] = listOf(query.from)
  const [to] = listOf(query.to)
  const startedAt = Date.parse(run.started_at)
  return (
    isAmong('workspace_id', run.workspace_id) &&
    isAmong('status', run.status) &&
    isAmong('source', run.source) &&
    isAmong('task_id', run.task_id) &&
    isAmong('cronjob_id', run.cronjob_id) &&
    isAmong('topic', run.topic) &&
    isStatusAmong(listOf(query.response_status), run.response_status) &&
    (from === undefined || startedAt >= Date.parse(from)) &&
    (to === undefined || startedAt < Date.parse(to))
  )
}

function isStatusAmong(wanted: readonly string[], status: number | null): boolean {
  if (wanted.length === 0) return true
  if (status === null) return false
  return wanted.some(one => one === String(status) || one.toLowerCase() === `${Math.floor(status / 100)}xx`)
}

function listOf(value: ListQuery[string]): string[] {
  return [value ?? []].flat().map(String)
}
