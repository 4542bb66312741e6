const firstDelayMs = 5_000
const longestDelayMs = 15 * 60_000

/** How long a message waits after its n-th failed attempt, until it is of no use any more. */
export function retryDelay(attempt: number): number {
  return Math.min(firstDelayMs * 2 ** (attempt - 1), longestDelayMs)
}
