import { Queue } from 'bullmq'
import { type Lab, processGroups, requireCalls } from '../lab/lab.ts'
import { payload } from '../lab/tasks.ts'
import { measureWindow } from '../measure/window.ts'
import type { BullmqOptions } from '../programs/bullmq.ts'
import type { Job } from '../programs/jobs.ts'
import type { DispatchSide } from './belfry.ts'
import { raceDurableQueue } from './durable-queue.ts'

const queue = 'calls'
const bulk = 500

/** The floor: a BullMQ worker that makes the calls and stores nothing. */
export function floorSide(lab: Lab): DispatchSide {
  return async ({ concurrency, count }) => {
    await lab.redis.client.flushall()
    await addSameJobs(lab, count)
    lab.target.counter.reset()
    const worker = await startBullmq(lab, { concurrency, durable: null })
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

/** BullMQ with the durable job of all job queues. */
export function bullmqSide(lab: Lab): DispatchSide {
  return raceDurableQueue(lab, {
    add: (_, count) => addSameJobs(lab, count),
    startWorker: durable => startBullmq(lab, { concurrency: durable.concurrency, durable }),
    async jobsLeft() {
      const jobs = new Queue(queue, { connection: { url: lab.redis.url } })
      const counts = await jobs.getJobCounts('waiting', 'active', 'delayed')
      await jobs.close()
      return Object.values(counts).reduce((sum, count) => sum + count, 0)
    },
  })
}

export function startBullmq(lab: Lab, options: Pick<BullmqOptions, 'concurrency' | 'durable'>) {
  return lab.startProgram('bullmq', { ...options, redisUrl: lab.redis.url, queue } satisfies BullmqOptions)
}

function addSameJobs(lab: Lab, count: number): Promise<void> {
  const request = { url: lab.target.url(), body: payload }
  return addBullmqJobs(
    lab,
    Array.from({ length: count }, () => ({ request })),
  )
}

/** Adds jobs that contain their request. A job without a time is due at once. */
export async function addBullmqJobs(lab: Lab, jobs: Array<{ request: Job; dueAt?: number }>): Promise<void> {
  const calls = new Queue(queue, { connection: { url: lab.redis.url } })
  for (let i = 0; i < jobs.length; i += bulk) {
    const now = Date.now()
    await calls.addBulk(
      jobs.slice(i, i + bulk).map(({ request, dueAt = now }) => {
        return { name: 'call', data: request, opts: { timestamp: now, delay: Math.max(0, dueAt - now) } }
      }),
    )
  }
  await calls.close()
}
