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
  let underWay = 0
  let tellFinished = () => {}
  const waiting = new Set<(outcome: AttemptOutcome | UnsentOutcome) => void>()

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
    orStopped(sending) {
      return new Promise((resolve, reject) => {
        waiting.add(resolve)
        const settle = (outcome: AttemptOutcome | UnsentOutcome) => {
          waiting.delete(resolve)
          resolve(outcome)
        }
        sending.then(settle, error => {
          waiting.delete(resolve)
          reject(error)
        })
      })
    },
    async finish(patienceMs) {
      const timer = setTimeout(() => {
        for (const giveUp of waiting) giveUp(stoppedOutcome)
      }, patienceMs)
      const finished = new Promise<void>(resolve => {
        tellFinished = resolve
      })
      if (underWay > 0) await finished
      clearTimeout(timer)
    },
  }
}

const stoppedOutcome: Outcome = {
  kind: 'failure',
  code: 'worker_lost',
  message: 'The dispatcher was stopped before the target answered. The target may have been called.',
}
