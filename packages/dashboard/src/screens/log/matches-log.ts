import type { Run } from '@belfry/contract/run'
import { matchesRun, parseStatusRange, type RunFilter } from '@belfry/domain/run-filter'
import type { Query } from '../../api/call.ts'

/** Returns whether a new run matches the query of a log. */
export function matchesLog(query: Query, run: Run): boolean {
  return matchesRun(toFilter(query), run)
}

function toFilter(query: Query): RunFilter {
  const given = Object.entries(query).map(([name, value]) => [name, [value ?? []].flat().map(String)] as const)
  const { name, late_ms, from, to, ...lists } = Object.fromEntries(given.filter(([, values]) => values.length > 0))
  return {
    ...lists,
    name: name?.[0],
    late_ms: late_ms && Number(late_ms[0]),
    response_status: lists.response_status?.flatMap(text => parseStatusRange(text) ?? []),
    not_response_status: lists.not_response_status?.flatMap(text => parseStatusRange(text) ?? []),
    from: from && new Date(String(from)),
    to: to && new Date(String(to)),
  }
}
