import { setTimeout as sleep } from 'node:timers/promises'
import { startBelfry } from '../lab/belfry.ts'
import type { Database } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { promote, requireRecorded, storeTasks } from '../lab/tasks.ts'
import { measured, quantile } from '../measure/statistics.ts'
import { watchMemory } from '../measure/watch-memory.ts'
import type { Benchmark } from './benchmark.ts'

const shortLookMs = 20_000
const sampleMs = 250
const feed = { batch: 10_000, backlog: 20_000 }

/** The memory of a dispatcher that always has more to do than it can. */
export const memory: Benchmark = {
  name: 'memory',
  title: 'Memory of a dispatcher at full load, 200 calls at once',
  async run(lab, { minutes }) {
    const lastsMs = minutes === null ? shortLookMs : minutes * 60_000
    const database = await lab.freshDatabase()
    const belfry = await startBelfry(lab, database, { services: ['scheduler', 'dispatcher'] })
    try {
      const ended = AbortSignal.timeout(lastsMs)
      const [samples] = await Promise.all([
        watchMemory(belfry.pids('dispatcher')[0], ended),
        keepBusy(lab, database, ended),
      ])
      const { count } = await lab.target.counter.collect()
      return {
        rounds: { seconds: lastsMs / 1000, calls: count, megabytes: samples },
        notes: minutes === null ? ['A short look; --minutes 5 takes a long one.'] : [],
        figures: figuresOf(samples),
      }
    } finally {
      await belfry.stop()
      await database.close()
    }
  },
}

function figuresOf(megabytes: readonly number[]) {
  const third = Math.floor(megabytes.length / 3)
  const [middle, end] = [megabytes.slice(third, 2 * third), megabytes.slice(2 * third)]
  return [
    {
      key: 'dispatcher_memory_mb',
      title: 'resident memory at its highest',
      unit: 'MB',
      ...measured([Math.max(...megabytes)]),
      limit: { atMost: 250 },
    },
    {
      key: 'dispatcher_memory_growth',
      title: 'its median in the last third / in the second third',
      ...measured([quantile(end, 0.5) / quantile(middle, 0.5)]),
      limit: { atMost: 1.1 },
    },
  ]
}

async function keepBusy(lab: Lab, database: Database, ended: AbortSignal): Promise<void> {
  const { counter } = lab.target
  counter.reset()
  for (let stored = 0; !ended.aborted; ) {
    const { count } = await counter.collect()
    if (stored - count > feed.backlog) {
      await sleep(sampleMs)
      continue
    }
    const tasks = await storeTasks(database, { count: feed.batch, url: lab.target.url(), dueInMs: 1_500 })
    await promote(database, tasks)
    stored += feed.batch
    if (ended.aborted) await requireRecorded(database, tasks)
  }
}
