import type { ChildProcess } from 'node:child_process'

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

type Order = { id: number } & ({ order: 'reset' } | { order: 'watch'; count: number } | { order: 'collect' })
type Reply = { id: number } & Record<string, unknown>

const timeoutMs = 120_000
let orders = 0

export function createCounter(child: ChildProcess): Counter {
  function ask<T>(order: Record<string, unknown>): Promise<T> {
    const id = ++orders
    return new Promise((resolve, reject) => {
      const listen = (reply: Reply) => {
        if (reply.id !== id) return
        stop()
        resolve(reply as T) // as countForParent replies to this order
      }
      const timer = setTimeout(() => {
        stop()
        reject(new Error(`Not within ${timeoutMs} ms: ${JSON.stringify(order)}.`))
      }, timeoutMs)
      const stop = () => {
        clearTimeout(timer)
        child.off('message', listen)
      }
      child.on('message', listen)
      child.send({ id, ...order })
    })
  }

  return {
    reset: () => void child.send({ id: ++orders, order: 'reset' }),
    reached: count => ask({ order: 'watch', count }),
    collect: () => ask({ order: 'collect' }),
  }
}

/** Counts for the parent process, in the process where the operations arrive. */
export function countForParent(): { add(name?: string): void } {
  let count = 0
  let arrivals: Arrival[] = []
  const watched = new Map<number, number[]>()
  const reply = (id: number, values: Record<string, unknown>) => process.send?.({ id, ...values })
  const now = () => performance.timeOrigin + performance.now()

  process.on('message', (order: Order) => {
    if (order.order === 'reset') {
      count = 0
      arrivals = []
      watched.clear()
    } else if (order.order === 'collect') reply(order.id, { count, arrivals })
    else if (order.order === 'watch' && count >= order.count) reply(order.id, { at: now() })
    else if (order.order === 'watch') watched.set(order.count, [...(watched.get(order.count) ?? []), order.id])
  })

  return {
    add(name) {
      count += 1
      if (name !== undefined) arrivals.push([name, now()])
      const waiting = watched.get(count)
      if (!waiting) return
      watched.delete(count)
      for (const id of waiting) reply(id, { at: now() })
    },
  }
}
