/**
 * Returns how many of the installation's permits for a host one of its live dispatchers has. Together they have exactly
 * `permits`, unless there are more dispatchers than permits: each has at least one, so no task waits for ever.
 * @param id - The id of the dispatcher. When it is not among the live ones, it counts as one more.
 */
export function dividePermits(permits: number, live: readonly string[], id: string): number {
  const index = live.indexOf(id)
  const count = index === -1 ? live.length + 1 : live.length
  const extra = (index === -1 ? live.length : index) < permits % count ? 1 : 0
  return Math.max(1, Math.floor(permits / count) + extra)
}
