// A statement whose answer is lost has ended long before.
const abandonedMs = 300_000

/**
 * Keeps the claims that this process is responsible for: each from its request until it is recorded or undone. A run's id
 * ends with the random half of the token of its claim, so a claim is found by either of them.
 * @param now - Milliseconds.
 */
export function createHeldClaims(now: () => number) {
  const held = new Set<string>()
  const abandoned = new Map<string, number>() // the time of each, in order
  return {
    add: (token: string): unknown => held.add(randomHalf(token)),
    /** Ends the responsibility: the claim was recorded, undone, or not made. */
    release: (token: string): unknown => held.delete(randomHalf(token)),
    /** Ends the wait for the answer. The claim may have been made, but its request was not sent. */
    abandon(token: string): void {
      held.delete(randomHalf(token))
      abandoned.set(randomHalf(token), now())
      for (const [oldest, since] of abandoned) {
        if (now() - since < abandonedMs) break
        abandoned.delete(oldest)
      }
    },
    has: (runId: string): boolean => held.has(randomHalf(runId)),
    isAbandoned: (runId: string): boolean => abandoned.has(randomHalf(runId)),
  }
}

function randomHalf(uuid: string): string {
  return uuid.slice(-17)
}
