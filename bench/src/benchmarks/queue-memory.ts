import { setTimeout as sleep } from 'node:timers/promises'
import { startBelfry } from '../lab/belfry.ts'
import type { Database } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { promote, type StoredTasks, storeTasks } from '../lab/tasks.ts'
import { measured } from '../measure/statistics.ts'
import { scheduleOneByOne } from '../sides/belfry.ts'
import type { Benchmark } from './benchmark.ts'

const count = 20_000
const minuteMs = 60_000
const twoTurnsMs = 2_500

/** What a waiting task costs Redis. */
export const queueMemory: Benchmark = {
  name: 'queue-memory',
  title: 'Redis memory of a waiting task',
  async run(lab) {
    const later = await bytesPerTask(lab, 30 * minuteMs, () => sleep(twoTurnsMs))
    const promoted = await bytesPerTask(lab, 4 * minuteMs, promote)
    const single = await bytesPerTask(lab, 4 * minuteMs, (_, stored) => scheduleOneByOne(lab, stored))
    return {
      rounds: { later, promoted, single },
      figures: [
        {
          key: 'redis_bytes_per_task_later',
          title: 'due in more than 5 minutes',
          unit: 'B',
          ...measured([Math.max(0, Math.round(later))]),
          limit: { atMost: 0 },
        },
        {
          key: 'redis_bytes_per_task_soon',
          title: 'due soon, with a job of its own',
          unit: 'B',
          ...measured([single]),
          limit: { atMost: 600 },
        },
        {
          key: 'redis_bytes_per_task_promoted',
          title: 'due soon, brought to the queue by the scheduler; 2,000 due each second',
          unit: 'B',
          ...measured([promoted]),
          limit: { atMost: 600 },
        },
      ],
    }
  },
}

async function bytesPerTask(
  lab: Lab,
  dueInMs: number,
  enqueue: (database: Database, stored: StoredTasks) => Promise<unknown>,
): Promise<number> {
  const database = await lab.freshDatabase()
  const belfry = await startBelfry(lab, database, { services: ['scheduler'] })
  try {
    await sleep(twoTurnsMs) // the first turn opens what stays open
    const before = await usedMemory(lab)
    const stored = await storeTasks(database, { count, url: lab.target.url(), dueInMs: dueInMs - 10_000, apartMs: 0.5 })
    await enqueue(database, stored)
    return ((await usedMemory(lab)) - before) / count
  } finally {
    await belfry.stop()
    await database.close()
  }
}

async function usedMemory({ servers }: Lab): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await servers.redis.info('memory'))?.[1])
}
