/** Counts the attempts of this process, from their claims to their records. */
export function createAttemptsInFlight(capacity: number) {
  let count = 0
  let begun = 0
  let onEmpty: Array<() => void> = []

  function whenEmpty(): Promise<void> {
    return count === 0 ? Promise.resolve() : new Promise(resolve => void onEmpty.push(resolve))
  }

  // The next attempt starts just after one has ended.
  function tellEmpty(): void {
    if (count > 0) return
    const waiting = onEmpty
    onEmpty = []
    for (const resolve of waiting) resolve()
  }

  return {
    whenEmpty,
    /** Returns whether one more attempt may start beside a number of slow calls. These are not counted. */
    hasCapacity: (slowCalls: number): boolean => count - slowCalls < capacity,
    get begun(): number {
      return begun
    },
    begin(): void {
      count++
      begun++
    },
    /** Ends an attempt. Another one may start then. */
    end(): void {
      if (--count === 0) queueMicrotask(tellEmpty)
    },
    /** Waits until all attempts are recorded. After `patienceMs` it calls `giveUp` for those that still wait for their target. */
    async finish(patienceMs: number, giveUp: () => unknown): Promise<void> {
      const timer = setTimeout(giveUp, patienceMs)
      await whenEmpty()
      clearTimeout(timer)
    },
  }
}
