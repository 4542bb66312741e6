import { openDispatchQueue } from '@belfry/queue'
import { startBelfry } from '../lab/belfry.ts'
import type { Database } from '../lab/database.ts'
import { type Lab, processGroups, requireCalls } from '../lab/lab.ts'
import { forgetTasks, promote, requireRecorded, type StoredTasks, storeTasks } from '../lab/tasks.ts'
import { type CpuReading, cpuPerOperation, readCpu } from '../measure/cpu-time.ts'
import { measureWindow, warmUpShare, withCpu } from '../measure/window.ts'
import type { DispatchSide } from './dispatch-side.ts'

const addsAtOnce = 50
const warmUpDueInMs = 4 * 60_000

/**
 * Belfry with tasks that the scheduler brings to the queue, as it does for all that is not due within minutes of its
 * creation. The CPU of that counts too.
 */
export function promotedSide(lab: Lab, dispatchers = 1): DispatchSide {
  return race(lab, dispatchers, {
    async prepare(database, count) {
      const others = { count: Math.round(count * warmUpShare), url: lab.target.url(), dueInMs: warmUpDueInMs }
      const stored = await storeTasks(database, others)
      await promote(database, stored)
      await forgetTasks(database, stored)
    },
    async enqueue(database, stored, groups) {
      const before = readCpu(groups)
      await promote(database, stored)
      return cpuPerOperation(before, readCpu(groups), stored.tasks.length)
    },
  })
}

/** Belfry without a Redis: dispatchers read the tasks from PostgreSQL. */
export function withoutRedisSide(lab: Lab, dispatchers = 1): DispatchSide {
  return race(
    lab,
    dispatchers,
    {
      async prepare(database, count) {
        const others = { count: Math.round(count * warmUpShare), url: lab.target.url(), dueInMs: warmUpDueInMs }
        await forgetTasks(database, await storeTasks(database, others))
      },
      enqueue: async () => ({}),
    },
    null,
  )
}

/** Belfry with a job for each task, added one by one as the API does for what is due soon. Adding does not count. */
export function singleSide(lab: Lab): DispatchSide {
  return race(lab, 1, {
    async prepare() {},
    async enqueue(_database, stored) {
      await scheduleOneByOne(lab, stored)
      return {}
    },
  })
}

/** Adds the jobs of tasks as the API does right after it has stored them. */
export async function scheduleOneByOne(lab: Lab, { tasks }: StoredTasks): Promise<void> {
  const onError = (error: Error) => console.error(error.message)
  const queue = openDispatchQueue({ redisUrl: lab.servers.redisUrl, onError })
  const waiting = tasks.values()
  const lanes = Array.from({ length: addsAtOnce }, async () => {
    for (const task of waiting) await queue.schedule([task], Date.now())
  })
  await Promise.all(lanes)
  await queue.close()
}

type WayToQueue = {
  /** What warms it up. */
  prepare(database: Database, count: number): Promise<void>
  enqueue(database: Database, stored: StoredTasks, groups: Record<string, number[]>): Promise<CpuReading>
}

function race(lab: Lab, dispatchers: number, { prepare, enqueue }: WayToQueue, redisUrl?: null): DispatchSide {
  return async ({ concurrency, count }) => {
    const database = await lab.freshDatabase()
    const services = ['scheduler' as const, ...Array.from({ length: dispatchers }, () => 'dispatcher' as const)]
    const belfry = await startBelfry(lab, database, { services, concurrency, redisUrl })
    try {
      const groups = processGroups(lab, [...belfry.pids('scheduler'), ...belfry.pids('dispatcher')])
      await prepare(database, count)
      lab.target.counter.reset()
      const stored = await storeTasks(database, { count, url: lab.target.url(), dueInMs: timeToEnqueueMs(count) })
      const [enqueued, sample] = await Promise.all([
        enqueue(database, stored, groups),
        measureWindow(lab.target.counter, count, groups),
      ])
      await requireRecorded(database, stored)
      await requireCalls(lab, count)
      return withCpu(sample, enqueued)
    } finally {
      await belfry.stop()
      await database.close()
    }
  }
}

/** How long before the first task is due it should be stored, so that all jobs are there by then. */
export function timeToEnqueueMs(count: number): number {
  return 1_500 + count * 0.15
}
