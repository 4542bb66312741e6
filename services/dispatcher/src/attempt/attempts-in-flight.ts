/** The attempts of this process, from their claims to their records. */
export type AttemptsInFlight = {
  /** Whether one more attempt may start. */
  readonly hasCapacity: boolean
  /** How many attempts have begun so far. */
  readonly begun: number
  /** @param onEnd - Called when the attempt is over, and there is capacity for another one. */
  track(attempt: Promise<void>, onEnd: () => void): void
  /** Resolves when no attempt is in flight. */
  whenEmpty(): Promise<void>
  /** Waits until all attempts are recorded. After `patienceMs` it calls `giveUp` for those that still wait for their target. */
  finish(patienceMs: number, giveUp: () => unknown): Promise<void>
}

/** @param capacity - Attempts at a time. */
export function createAttemptsInFlight(capacity: number, onFault: (error: unknown) => void): AttemptsInFlight {
  let count = 0
  let begun = 0
  let onEmpty: Array<() => void> = []

  function whenEmpty(): Promise<void> {
    return count === 0 ? Promise.resolve() : new Promise(resolve => void onEmpty.push(resolve))
  }

  return {
    whenEmpty,
    get hasCapacity() {
      return count < capacity
    },
    get begun() {
      return begun
    },
    track(attempt, onEnd) {
      count++
      begun++
      const end = () => {
        count--
        onEnd()
        if (count > 0) return
        const waiting = onEmpty
        onEmpty = []
        for (const resolve of waiting) resolve()
      }
      attempt.then(end, error => {
        onFault(error)
        end()
      })
    },
    async finish(patienceMs, giveUp) {
      const timer = setTimeout(giveUp, patienceMs)
      await whenEmpty()
      clearTimeout(timer)
    },
  }
}
