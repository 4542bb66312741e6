import { openDispatchQueue } from '@belfry/queue/dispatch-queue'
import { startBelfry } from '../lab/belfry.ts'
import type { Database } from '../lab/database.ts'
import { type Lab, processGroups, requireCalls } from '../lab/lab.ts'
import { forgetTasks, promote, requireRecorded, type StoredTasks, storeTasks } from '../lab/tasks.ts'
import { type CpuReading, cpuPerOperation, type ProcessGroups, readCpu } from '../measure/cpu-time.ts'
import { measureWindow, type Sample, warmUpShare, withCpu } from '../measure/window.ts'

/** One side of a race: makes `count` calls that are all due, at most `concurrency` of them in parallel. */
export type DispatchSide = (options: { concurrency: number; count: number }) => Promise<Sample>

/**
 * Belfry with tasks that the scheduler adds to the queue, as it does with every task that is created minutes ahead. The
 * CPU of adding them counts.
 */
export function promotedSide(lab: Lab): DispatchSide {
  return race(lab, {
    async warmUp(database, others) {
      await promote(database, others)
    },
    async enqueue(database, stored, groups) {
      const before = readCpu(groups)
      await promote(database, stored)
      return cpuPerOperation(before, readCpu(groups), stored.tasks.length)
    },
  })
}

/**
 * Belfry without Redis: dispatchers read the tasks from PostgreSQL.
 * @param change - A statement that changes the database of each round first. Default: none.
 */
export function withoutRedisSide(lab: Lab, change?: string): DispatchSide {
  return race(lab, { redisUrl: null, change, warmUp: async () => {}, enqueue: async () => ({}) })
}

/** Belfry with a job for each task, as the API adds it for a task that is due soon. Adding the jobs does not count. */
export function singleSide(lab: Lab): DispatchSide {
  return race(lab, {
    warmUp: null,
    async enqueue(_database, { tasks }) {
      const onError = (error: Error) => console.error(error.message)
      const queue = openDispatchQueue({ redisUrl: lab.redis.url, onError })
      const waiting = tasks.values()
      const lanes = Array.from({ length: 50 }, async () => {
        for (const task of waiting) await queue.schedule([task], Date.now())
      })
      await Promise.all(lanes)
      await queue.close()
      return {}
    },
  })
}

type RaceOptions = {
  redisUrl?: null
  change?: string | undefined
  /** Handles a fifth as many tasks, which are deleted before they are due. Null: no warm-up. */
  warmUp: ((database: Database, others: StoredTasks) => Promise<void>) | null
  /** Returns the CPU that it used for each task. */
  enqueue(database: Database, stored: StoredTasks, groups: ProcessGroups): Promise<CpuReading>
}

const warmUpDueInMs = 4 * 60_000

function race(lab: Lab, { redisUrl, change, warmUp, enqueue }: RaceOptions): DispatchSide {
  return async ({ concurrency, count }) => {
    const database = await lab.freshDatabase()
    if (change) await database.pool.query(change)
    const belfry = await startBelfry(lab, database, { services: ['scheduler', 'dispatcher'], concurrency, redisUrl })
    try {
      const url = lab.target.url()
      const groups = processGroups(lab, [...belfry.pids('scheduler'), ...belfry.pids('dispatcher')])
      if (warmUp) {
        const others = { count: Math.round(count * warmUpShare), url, dueInMs: warmUpDueInMs }
        const stored = await storeTasks(database, others)
        await warmUp(database, stored)
        await forgetTasks(database, stored)
      }
      lab.target.counter.reset()
      // Late enough that all jobs are in the queue by then.
      const stored = await storeTasks(database, { count, url, dueInMs: 1_500 + count * 0.15 })
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
