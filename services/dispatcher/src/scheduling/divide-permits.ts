import type { StartRate } from './start-window.ts'

/**
 * Returns how many of the installation's permits for a host one of its live dispatchers has. Together they have exactly
 * `permits`, unless there are more dispatchers than permits: each has at least one, or its tasks would wait forever.
 * @param id - The id of the dispatcher. When it is not among the live ones, it counts as one more.
 */
export function dividePermits(permits: number, live: readonly string[], id: string): number {
  const index = live.indexOf(id)
  const count = index === -1 ? live.length + 1 : live.length
  const extra = (index === -1 ? live.length : index) < permits % count ? 1 : 0
  return Math.max(1, Math.floor(permits / count) + extra)
}

// A dispatcher may start its call in this part of its turn. The rest keeps the calls of a second apart.
const openPart = 0.25

/**
 * Returns the part of a rate per second that one of the live dispatchers has. Together they start at most `perSecond` calls
 * in any second. More dispatchers than calls take turns, with one call in each. A second has a quarter of a turn less than
 * calls, as a call may start late in its turn.
 * @param aheadMs - How far the clock that all dispatchers share is ahead of the clock of the queues.
 */
export function divideRate(perSecond: number, live: readonly string[], id: string, aheadMs: () => number): StartRate {
  const index = live.indexOf(id)
  const count = index === -1 ? live.length + 1 : live.length
  if (perSecond >= count) return { count: dividePermits(perSecond, live, id), periodMs: 1_000 }
  const turnMs = 1_000 / (perSecond - openPart)
  const openMs = turnMs * openPart
  const place = index === -1 ? live.length : index
  return {
    count: 1,
    periodMs: 2 * openMs, // one call in a turn
    turn: { everyMs: turnMs * count, openMs, beganAt: () => turnMs * place - aheadMs() },
  }
}
