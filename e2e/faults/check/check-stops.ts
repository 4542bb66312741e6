import type { Hit } from '../fixture/fixture-target.ts'
import type { Report } from './check-history.ts'
import { clockToleranceMs } from './check-task.ts'
import { groupBy } from './group-by.ts'
import { type History, lostCode, type StoredTask } from './history.ts'

/**
 * A dispatcher sends what it has claimed before a stop at most so long after it: without a heartbeat for ten seconds it sends
 * nothing.
 */
export const maxSendMs = 12_000

/**
 * Checks the part of I7 about calls: none reaches the target after its task has ended, nor long after the answer to a
 * suspension or deletion of its workspace. A deleted workspace claims nothing from the answer on.
 */
export function checkStops(history: History, report: Report): void {
  const [hits, moves] = [groupBy(history.hits), groupBy(history.moves)]
  // A busy target may read a call after its timeout.
  const recorded = new Set(history.runs.flatMap(({ id, errorCode }) => (errorCode === lostCode ? [] : [id])))
  for (const task of history.tasks) {
    const calls = hits.get(task.id) ?? []
    const own = moves.get(task.id) ?? []
    const last = own.at(-1)
    // Its times compare with those of calls unless the clock of PostgreSQL was set back in between.
    const isStepped = own.some(({ at }) => at > (last?.at ?? at))
    const late =
      last &&
      isFinal(last.to) &&
      !isStepped &&
      calls.find(({ at, runId }) => at > last.at + (recorded.has(runId) ? maxSendMs : clockToleranceMs))
    if (late) report('I7', task.id, `was called ${Math.round(late.at - last.at)} ms after it was ${describe(task)}`)
  }
  for (const { workspaceId, kind, from, until } of history.workspaceStops) {
    for (const task of history.tasks) {
      if (task.workspaceId !== workspaceId) continue
      const complain = (text: string) =>
        report('I7', task.id, `${text} after the ${kind} of its workspace was answered`)
      const called = hitDuring(hits.get(task.id) ?? [], from, until)
      if (called) complain(`was called ${Math.round(called.at - from)} ms`)
      const claimed = (moves.get(task.id) ?? []).find(
        ({ to, at }) => to === 'processing' && at > from + clockToleranceMs,
      )
      if (claimed && kind === 'deletion') complain('was claimed')
    }
  }
}

/** Returns a call that reached the target between a stop and its end, and that was not claimed just before the stop. */
export function hitDuring(hits: readonly Hit[], from: number, until: number): Hit | undefined {
  return hits.find(({ at }) => at > from + maxSendMs && at < until - clockToleranceMs)
}

function isFinal(state: string): boolean {
  return ['success', 'dead', 'cancelled'].includes(state)
}

function describe({ state, stateReason }: StoredTask): string {
  return stateReason === null ? state : `${state} (${stateReason})`
}
