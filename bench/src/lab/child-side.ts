// What the programs use, which run in child processes.
import type { Arrival } from './counter.ts'

/** A placeholder in what a load program sends, for a number that is different in each request. */
export const numberMark = '<number>'

/** The queue of every job queue. */
export const queueName = 'calls'

/** Ends this process when its parent ends, and returns the argument that the parent passed. To be called first. */
export function startAsChild<Argument>(): Argument {
  if (!process.connected) process.exit()
  process.once('disconnect', () => process.exit())
  return JSON.parse(process.argv[2] ?? '') as Argument // as Lab.startProgram writes it
}

/** Reports that this process is ready, and waits until the parent sends `go`. */
export async function parentSaysGo(): Promise<void> {
  const go = new Promise<void>(resolve => {
    process.on('message', message => {
      if (message === 'go') resolve()
    })
  })
  process.send?.('ready')
  await go
}

type Order = { id: number } & ({ order: 'reset' } | { order: 'watch'; count: number } | { order: 'collect' })

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
      if (waiting) for (const id of waiting) reply(id, { at: now() })
    },
  }
}
