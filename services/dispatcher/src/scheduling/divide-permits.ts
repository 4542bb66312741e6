import type { StartRate } from './start-window.ts'

/**
 * Returns how many of the installation's permits for a host one of its live dispatchers has. Together they have exactly
 * `permits`, unless there are more dispatchers than permits: each has at least one, so no task waits forever.
 * @param id - The id of the dispatcher. When it is not among the live ones, it counts as one more.
 */
export function dividePermits(permits: number, live: readonly string[], id: string): number {
  const index = live.indexOf(id)
  const count = index === -1 ? live.length + 1 : live.length
  const extra = (index === -1 ? live.length : index) < permits % count ? 1 : 0
  return Math.max(1, Math.floor(permits / count) + extra)
}

/**
 * Returns the part of a rate per second that one of the live dispatchers has. Together they start at most `perSecond` calls
 * in any second. With more dispatchers than calls, each starts one call in a longer period.
 */
export function divideRate(perSecond: number, live: readonly string[], id: string): StartRate {
  const count = live.includes(id) ? live.length : live.length + 1
  if (perSecond < count) return { count: 1, periodMs: (1_000 * count) / perSecond }
  return { count: dividePermits(perSecond, live, id), periodMs: 1_000 }
}
