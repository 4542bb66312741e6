import { createHostQueues } from '../../src/scheduling/host-queues.ts'
import type { HostQueuesOptions, QueueKey } from '../../src/scheduling/queue.ts'
import type { Slot } from '../../src/scheduling/slot.ts'

export type Task = QueueKey & { n: number }

type Setup = Partial<
  Pick<HostQueuesOptions<Task>, 'slots' | 'slowPlaces' | 'permitsPerHost' | 'startsPerHost' | 'tenantOf' | 'isExempt'>
>

/** Returns queues with a clock of their own, and functions that add tasks and take all slots. */
export function setup({ slots = 10, permitsPerHost = 100, ...more }: Setup = {}) {
  const clock = { now: 1_000_000 }
  const queues = createHostQueues<Task>({ slots, permitsPerHost, now: () => clock.now, ...more })
  let n = 0
  const add = (workspace: string, host: string, count = 1) => {
    for (let i = 0; i < count; i++) queues.add({ workspace, host, n: n++ })
  }
  const startAll = () => {
    const taken: Slot<Task>[] = []
    for (let slot = queues.next(); slot; slot = queues.next()) taken.push(slot)
    return taken
  }
  return { queues, clock, add, startAll }
}
