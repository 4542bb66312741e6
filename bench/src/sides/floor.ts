import { Queue } from 'bullmq'
import type { FloorOptions } from '../baselines/floor.ts'
import { type Lab, processGroups, requireCalls } from '../lab/lab.ts'
import { payload } from '../lab/tasks.ts'
import { measureWindow } from '../measure/window.ts'
import type { DispatchSide } from './dispatch-side.ts'

export const floorQueue = 'floor'
const bulk = 500

/** What somebody writes by hand: a BullMQ worker that makes the call and forgets it. */
export function floorSide(lab: Lab, client: FloorOptions['client']): DispatchSide {
  return async ({ concurrency, count }) => {
    await lab.servers.redis.flushall()
    const request = { url: lab.target.url(), body: payload }
    await addFloorJobs(
      lab,
      Array.from({ length: count }, () => ({ request })),
    )
    lab.target.counter.reset()
    const worker = await startFloor(lab, { concurrency, client })
    try {
      const measuring = measureWindow(lab.target.counter, count, processGroups(lab, [worker.pid]))
      worker.channel.send('go')
      const sample = await measuring
      await requireCalls(lab, count)
      return sample
    } finally {
      await worker.stop()
    }
  }
}

export function startFloor(lab: Lab, options: Omit<FloorOptions, 'redisUrl' | 'queue'>) {
  const argument: FloorOptions = { ...options, redisUrl: lab.servers.redisUrl, queue: floorQueue }
  return lab.startProgram('floor', argument)
}

/** Puts jobs that carry their request into the floor's queue; without a time they are due at once. */
export async function addFloorJobs(
  lab: Lab,
  jobs: Array<{ request: { url: string; body: string }; dueAt?: number }>,
): Promise<void> {
  const queue = new Queue(floorQueue, { connection: { url: lab.servers.redisUrl } })
  for (let i = 0; i < jobs.length; i += bulk) {
    const now = Date.now()
    await queue.addBulk(
      jobs.slice(i, i + bulk).map(({ request, dueAt = now }) => {
        return { name: 'call', data: request, opts: { timestamp: now, delay: Math.max(0, dueAt - now) } }
      }),
    )
  }
  await queue.close()
}
