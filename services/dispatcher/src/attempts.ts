/** The attempts under way in this process. */
export type Attempts = {
  track(attempt: Promise<void>): void
  /** Waits until all are recorded; after `patienceMs` it calls `giveUp` for those that still wait for their target. */
  finish(patienceMs: number, giveUp: () => unknown): Promise<void>
}

export function createAttempts(onFault: (error: unknown) => void): Attempts {
  let underWay = 0
  let tellFinished = () => {}

  const end = () => {
    underWay--
    if (underWay === 0) tellFinished()
  }
  const fail = (error: unknown) => {
    onFault(error)
    end()
  }
  return {
    track(attempt) {
      underWay++
      attempt.then(end, fail)
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
