/** The attempts of this process, from their claims to their records. */
export type AttemptsInFlight = {
  /** Returns whether one more attempt may start beside a number of slow calls. These are not counted. */
  hasCapacity(slowCalls: number): boolean
  /** How many attempts have begun so far. */
  readonly begun: number
  begin(): void
  /** Ends an attempt. Another one may start then. */
  end(): void
  /** Resolves when no attempt is in flight. */
  whenEmpty(): Promise<void>
  /** Waits until all attempts are recorded. After `patienceMs` it calls `giveUp` for those that still wait for their target. */
  finish(patienceMs: number, giveUp: () => unknown): Promise<void>
}

/** @param capacity - Attempts at a time. */
export function createAttemptsInFlight(capacity: number): AttemptsInFlight {
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
    hasCapacity: slowCalls => count - slowCalls < capacity,
    get begun() {
      return begun
    },
    begin() {
      count++
      begun++
    },
    end() {
      if (--count === 0) queueMicrotask(tellEmpty)
    },
    async finish(patienceMs, giveUp) {
      const timer = setTimeout(giveUp, patienceMs)
      await whenEmpty()
      clearTimeout(timer)
    },
  }
}
