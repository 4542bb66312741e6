import type { Limits, Report } from './check-history.ts'
import { type History, lostCode } from './history.ts'

/**
 * Checks that every lost attempt is charged to a fault. A fault is charged with exactly the attempts that were in flight
 * when it happened.
 * @returns The number of calls whose outcome was lost.
 */
export function checkLosses(history: History, { poison = [] }: Limits, report: Report): number {
  const charged = new Set(history.charges.flatMap(({ runIds }) => runIds))
  const sent = new Set(history.hits.map(({ runId }) => runId))
  const lost = history.runs.filter(({ errorCode }) => errorCode === lostCode)
  for (const { id, taskId, attempt } of lost) {
    if (charged.has(id) || poison.includes(taskId)) continue
    report(
      'I5',
      taskId,
      `lost attempt ${attempt}${sent.has(id) ? ', which was sent' : ''}, and no fault may have cost it`,
    )
  }
  return lost.filter(({ id }) => sent.has(id)).length
}
