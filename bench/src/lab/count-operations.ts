import type { Arrival, CounterOrder, CounterReport } from './counter.ts'

/** The side of a counter that lives in the process that sees the operations. */
export type OperationCount = {
  /** Counts one; `name` only when it is to be told apart. */
  add(name?: string): void
}

/** Counts for the process that has started this one, and obeys it. */
export function countForParent(): OperationCount {
  let count = 0
  let arrivals: Arrival[] = []
  const watched = new Set<number>()
  const say = (report: CounterReport) => process.send?.(report)
  const now = () => performance.timeOrigin + performance.now()

  process.on('message', (order: CounterOrder) => {
    switch (order.order) {
      case 'reset':
        count = 0
        arrivals = []
        watched.clear()
        return
      case 'watch':
        if (count >= order.count) say({ report: 'reached', count: order.count, at: now() })
        else watched.add(order.count)
        return
      case 'collect':
        say({ report: 'collected', count, arrivals })
    }
  })

  return {
    add(name) {
      count += 1
      if (name !== undefined) arrivals.push([name, now()])
      if (watched.delete(count)) say({ report: 'reached', count, at: now() })
    },
  }
}
