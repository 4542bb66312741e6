const shortestMs = 500
const longestMs = 30_000
const healthyAfterMs = 60_000

/** How long to wait before a service is started again: longer each time, unless it had worked for a while. */
export function restartPauseMs(lastPauseMs: number, livedMs: number): number {
  if (livedMs >= healthyAfterMs) return shortestMs
  return Math.min(Math.max(lastPauseMs * 2, shortestMs), longestMs)
}
