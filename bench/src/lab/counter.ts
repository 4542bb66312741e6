import type { ChildProcess } from 'node:child_process'
import { on } from 'node:events'

/** When a named operation arrived, in epoch milliseconds. */
export type Arrival = [name: string, at: number]

export type CountOrder = { id: number; count: number }

export type CountReport = { id: number; at: number; count: number; arrivals: Arrival[] }

/** A child process that counts operations where they arrive: the neutral witness of a race. */
export type Counter = {
  /** Starts again at zero. */
  reset(): void
  /** Resolves with the time, the count and the arrivals once there are this many; rejects after two minutes. */
  reached(count: number): Promise<CountReport>
}

const timeoutMs = 120_000
let orders = 0

export function createCounter(child: ChildProcess): Counter {
  return {
    reset: () => void child.send('reset'),
    async reached(count) {
      const order: CountOrder = { id: ++orders, count }
      child.send(order)
      try {
        for await (const [report] of on(child, 'message', { signal: AbortSignal.timeout(timeoutMs) })) {
          if (report.id === order.id) return report as CountReport // as countForParent reports it
        }
      } catch {
        // The timeout ends the loop.
      }
      throw new Error(`The count did not reach ${count} within ${timeoutMs} ms.`)
    },
  }
}
