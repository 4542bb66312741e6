import type { Outcome, UnsentOutcome } from './egress/outcome.ts'
import type { AttemptOutcome } from './secrets/attempt-outcome.ts'

/** The attempts under way in this process. */
export type Attempts = {
  track(attempt: Promise<void>): void
  /** The outcome of a call, or of having been given up because the process can wait no longer. */
  orStopped(sending: Promise<AttemptOutcome | UnsentOutcome>): Promise<AttemptOutcome | UnsentOutcome>
  /** Waits until all are recorded; after `patienceMs` those still waiting for their target are given up. */
  finish(patienceMs: number): Promise<void>
}

export function createAttempts(onFault: (error: unknown) => void): Attempts {
  const underWay = new Set<Promise<void>>()
  const waiting = new Set<(outcome: AttemptOutcome | UnsentOutcome) => void>()
  return {
    track(attempt) {
      const settled = attempt.catch(onFault).finally(() => underWay.delete(settled))
      underWay.add(settled)
    },
    orStopped(sending) {
      return new Promise((resolve, reject) => {
        waiting.add(resolve)
        sending.then(resolve, reject).finally(() => waiting.delete(resolve))
      })
    },
    async finish(patienceMs) {
      const timer = setTimeout(() => {
        for (const giveUp of waiting) giveUp(stoppedOutcome)
      }, patienceMs)
      while (underWay.size > 0) await Promise.all(underWay)
      clearTimeout(timer)
    },
  }
}

const stoppedOutcome: Outcome = {
  kind: 'failure',
  code: 'worker_lost',
  message: 'The dispatcher was stopped before the target answered. The target may have been called.',
}
