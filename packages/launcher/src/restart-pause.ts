const minMs = 500
const maxMs = 30_000
const healthyAfterMs = 60_000

/** Returns the pause before a restart. It grows each time, unless the service had run for a minute. */
export function restartPauseMs(lastPauseMs: number, livedMs: number): number {
  if (livedMs >= healthyAfterMs) return minMs
  return Math.min(Math.max(lastPauseMs * 2, minMs), maxMs)
}
