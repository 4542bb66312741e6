// What the programs use, which run in child processes.
import type { Arrival, CountOrder, CountReport } from './counter.ts'

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

/** Counts for the parent process. Returns a function to call when an operation arrives; only one with a name is listed. */
export function countForParent(): (name?: string) => void {
  let count = 0
  let arrivals: Arrival[] = []
  let waiting: CountOrder[] = []
  const now = () => performance.timeOrigin + performance.now()
  const report = ({ id }: CountOrder) => process.send?.({ id, at: now(), count, arrivals } satisfies CountReport)

  process.on('message', (message: CountOrder | string) => {
    if (message === 'reset') [count, arrivals, waiting] = [0, [], []]
    if (typeof message === 'string') return
    if (count >= message.count) report(message)
    else waiting.push(message)
  })

  return name => {
    count += 1
    if (name !== undefined) arrivals.push([name, now()])
    for (const order of waiting) if (order.count === count) report(order)
  }
}
