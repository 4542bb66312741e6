import type { ChildProcess } from 'node:child_process'
import { on } from 'node:events'

/** When a named operation arrived, in epoch milliseconds. */
export type Arrival = [name: string, at: number]

/** A child process that counts operations where they arrive: the neutral witness of a race. */
export type Counter = {
  /** Starts again at zero. */
  reset(): void
  /** Resolves with the time of the operation that made it this many; rejects after two minutes. */
  reached(count: number): Promise<{ at: number }>
  /** Returns the count, and the arrivals that had a name. */
  collect(): Promise<{ count: number; arrivals: Arrival[] }>
}

const timeoutMs = 120_000
let orders = 0

export function createCounter(child: ChildProcess): Counter {
  async function ask<T>(order: Record<string, unknown>): Promise<T> {
    const id = ++orders
    child.send({ id, ...order })
    try {
      for await (const [reply] of on(child, 'message', { signal: AbortSignal.timeout(timeoutMs) })) {
        if (reply.id === id) return reply as T // as countForParent replies to this order
      }
    } catch {
      // The timeout ends the loop.
    }
    throw new Error(`Not within ${timeoutMs} ms: ${JSON.stringify(order)}.`)
  }
  return {
    reset: () => void child.send({ id: ++orders, order: 'reset' }),
    reached: count => ask({ order: 'watch', count }),
    collect: () => ask({ order: 'collect' }),
  }
}
