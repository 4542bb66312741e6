import type { Limits, Report } from './check-history.ts'
import { type History, lostCode } from './history.ts'

/**
 * Asserts that an attempt was lost only where a fault may have cost it: each fault is charged with the attempts that were
 * in flight at it, and with nothing else.
 * @returns How many sends lost their outcome.
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
