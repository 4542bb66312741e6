import type { ChildProcess } from 'node:child_process'

/** What is said to a process that counts operations. */
export type CounterOrder = { order: 'reset' } | { order: 'watch'; count: number } | { order: 'collect' }

/** What such a process says; `at` is in epoch milliseconds. */
export type CounterReport =
  | { report: 'reached'; count: number; at: number }
  | { report: 'collected'; count: number; arrivals: Arrival[] }

/** When an operation that named itself was seen, in epoch milliseconds. */
export type Arrival = [name: string, at: number]

/** A process that counts operations where they arrive, whoever makes them: the neutral witness of a race. */
export type Counter = {
  /** Starts again at zero. */
  reset(): void
  /** Resolves with the instant of the operation that made it so many; rejects when that takes too long. */
  reached(count: number, timeoutMs?: number): Promise<{ at: number }>
  /** How many there have been, and those that named themselves. */
  collect(): Promise<{ count: number; arrivals: Arrival[] }>
}

const patienceMs = 120_000

export function createCounter(child: ChildProcess): Counter {
  const say = (order: CounterOrder) => void child.send(order)

  function hear<T>(timeoutMs: number, what: string, pick: (report: CounterReport) => T | null): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => reject(new Error(`Not within ${timeoutMs} ms: ${what}.`))), timeoutMs)
      const listen = (report: CounterReport) => {
        const picked = pick(report)
        if (picked !== null) settle(() => resolve(picked))
      }
      const settle = (end: () => void) => {
        clearTimeout(timer)
        child.off('message', listen)
        end()
      }
      child.on('message', listen)
    })
  }

  return {
    reset: () => say({ order: 'reset' }),
    async reached(count, timeoutMs = patienceMs) {
      const heard = hear(timeoutMs, `${count} operations`, report =>
        report.report === 'reached' && report.count === count ? { at: report.at } : null,
      )
      say({ order: 'watch', count })
      return heard
    },
    async collect() {
      const heard = hear(patienceMs, 'the arrivals', report => (report.report === 'collected' ? report : null))
      say({ order: 'collect' })
      return heard
    },
  }
}
