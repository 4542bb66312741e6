/** The attempts under way in this process, from their claim to their record. */
export type Attempts = {
  /** Whether one more may begin. */
  readonly haveRoom: boolean
  /** @param onEnd - Called when the attempt is over and has made room. */
  track(attempt: Promise<void>, onEnd: () => void): void
  /** Waits until all are recorded; after `patienceMs` it calls `giveUp` for those that still wait for their target. */
  finish(patienceMs: number, giveUp: () => unknown): Promise<void>
}

/** @param capacity - Attempts at a time. */
export function createAttempts(capacity: number, onFault: (error: unknown) => void): Attempts {
  let underWay = 0
  let tellFinished = () => {}

  return {
    get haveRoom() {
      return underWay < capacity
    },
    track(attempt, onEnd) {
      underWay++
      const over = () => {
        underWay--
        onEnd()
        if (underWay === 0) tellFinished()
      }
      attempt.then(over, error => {
        onFault(error)
        over()
      })
    },
    async finish(patienceMs, giveUp) {
      const timer = setTimeout(giveUp, patienceMs)
      const finished = new Promise<void>(resolve => {
        tellFinished = resolve
      })
      if (underWay > 0) await finished
      clearTimeout(timer)
    },
  }
}
