import type { Report } from './check-history.ts'
import { groupBy } from './group-by.ts'
import type { History, Move } from './history.ts'

/**
 * Checks I12: the tasks of an organization are sent up to its limit and never beyond, and the count is the number of claims
 * that were not undone.
 */
export function checkExecutions(history: History, report: Report): void {
  const hits = groupBy(history.hits)
  const moves = groupBy(history.moves)
  for (const { id, limit, counted } of history.organizations) {
    const tasks = history.tasks.filter(({ organizationId }) => organizationId === id)
    const sent = tasks.filter(task => hits.has(task.id)).length
    const executed = tasks.filter(task => isExecuted(moves.get(task.id) ?? [])).length
    const refused = tasks.filter(({ stateReason }) => stateReason === 'monthly_execution_limit').length
    if (sent > limit) report('I12', null, `${sent} tasks were sent; the limit is ${limit}`)
    if (executed > limit) report('I12', null, `${executed} tasks were executed; the limit is ${limit}`)
    if (counted !== executed) report('I12', null, `${counted} executions were counted for ${executed} tasks`)
    if (refused > 0 && executed < limit)
      report('I12', null, `${refused} tasks were refused although ${limit - executed} executions were left`)
  }
}

function isExecuted(moves: readonly Move[]): boolean {
  const claims = moves.filter(({ from, to }) => from === 'pending' && to === 'processing').length
  const undone = moves.filter(({ from, to }) => from === 'processing' && to === 'pending').length
  return claims > undone
}
