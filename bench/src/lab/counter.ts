import type { ChildProcess } from 'node:child_process'

/** A message to a process that counts operations. */
type Order = { order: 'reset' } | { order: 'watch'; count: number } | { order: 'collect' }

/** A message from it; `at` is in epoch milliseconds. */
type Report =
  | { report: 'reached'; count: number; at: number }
  | { report: 'collected'; count: number; arrivals: Arrival[] }

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

export function createCounter(child: ChildProcess): Counter {
  const send = (order: Order) => void child.send(order)

  function receive<T>(what: string, pick: (report: Report) => T | null): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => reject(new Error(`Not within ${timeoutMs} ms: ${what}.`))), timeoutMs)
      const listen = (report: Report) => {
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
    reset: () => send({ order: 'reset' }),
    async reached(count) {
      const received = receive(`${count} operations`, report =>
        report.report === 'reached' && report.count === count ? { at: report.at } : null,
      )
      send({ order: 'watch', count })
      return received
    },
    async collect() {
      const received = receive('the arrivals', report => (report.report === 'collected' ? report : null))
      send({ order: 'collect' })
      return received
    },
  }
}

/** Counts for the parent process, in the process where the operations arrive. */
export function countForParent(): { add(name?: string): void } {
  let count = 0
  let arrivals: Arrival[] = []
  const watched = new Set<number>()
  const send = (report: Report) => process.send?.(report)
  const now = () => performance.timeOrigin + performance.now()

  process.on('message', (order: Order) => {
    switch (order.order) {
      case 'reset':
        count = 0
        arrivals = []
        watched.clear()
        return
      case 'watch':
        if (count >= order.count) send({ report: 'reached', count: order.count, at: now() })
        else watched.add(order.count)
        return
      case 'collect':
        send({ report: 'collected', count, arrivals })
    }
  })

  return {
    add(name) {
      count += 1
      if (name !== undefined) arrivals.push([name, now()])
      if (watched.delete(count)) send({ report: 'reached', count, at: now() })
    },
  }
}
