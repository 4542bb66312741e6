import type { QuarantinedTask } from '@belfry/db/tasks/quarantine'
import type { HealthSignal } from '../scheduling/circuit-breaker.ts'
import type { PermitAnswer, PermitMessage } from './share-permits.ts'

export type Permit = {
  /**
   * Releases it, once.
   * @param pauseMs - For how long the host asked Belfry to pause. Default: it did not.
   */
  release(signal: HealthSignal, pauseMs?: number): void
}

// The host may be failing for hours, and other tasks wait for this process.
const patienceMs = 30_000

/**
 * Opens the requests of a quarantine process to its dispatcher. A request resolves to null when the process stops, or the host
 * of the task is paused or has no permit for 30 seconds.
 */
export function openPermits(stop: AbortSignal): (task: QuarantinedTask) => Promise<Permit | null> {
  let number = 0
  let onAnswer = (_answer: PermitAnswer) => {}
  process.on('message', (answer: PermitAnswer) => onAnswer(answer))

  return task => {
    const own = ++number
    let [isGranted, isOver] = [false, false]
    const release = (signal: HealthSignal, pauseMs = 0) => {
      if (!isOver) send({ end: own, signal, pauseMs })
      isOver = true
    }
    return new Promise(resolve => {
      const giveUp = () => {
        if (isGranted) return
        release(null)
        resolve(null)
      }
      AbortSignal.any([stop, AbortSignal.timeout(patienceMs)]).addEventListener('abort', giveUp)
      onAnswer = answer => {
        if (answer.number !== own || isOver) return
        if (!answer.isGranted) return giveUp()
        isGranted = true
        resolve({ release })
      }
      send({ ask: own, task })
    })
  }
}

// Skips the message when the dispatcher is gone: that ends this process.
function send(message: PermitMessage): void {
  if (process.connected) process.send?.(message)
}
