import type { State } from './host-queues.ts'

const maxIdleQueues = 10_000

/** Removes empty queues that had no attempt for a minute, and of the other empty ones all but some thousands. */
export function evictIdle<Task>({ options, queues, hosts, levels }: State<Task>): void {
  const now = options.now()
  const idle = [...queues.values()].filter(({ tasks, taken }) => tasks.isEmpty() && taken === 0)
  const surplus = idle.length - maxIdleQueues
  for (const [i, queue] of idle.entries()) {
    if (i >= surplus && !queue.breaker.isIdle(now)) continue
    queues.delete(queue.id)
    if (--queue.host.queues === 0) hosts.delete(queue.key.host)
  }
  levels.evictExcept(Array.from(queues.values(), ({ workspace }) => workspace))
}
