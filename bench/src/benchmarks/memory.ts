import { setTimeout as sleep } from 'node:timers/promises'
import { readProc } from '@belfry/test-support/proc'
import type { Benchmark } from '../benchmark.ts'
import { startBelfry } from '../lab/belfry.ts'
import type { Database } from '../lab/database.ts'
import { inFreshDatabase, type Lab } from '../lab/lab.ts'
import { promote, requireRecorded, storeTasks } from '../lab/tasks.ts'
import { measured, quantile } from '../measure/statistics.ts'

const shortLookMs = 20_000
const sampleMs = 250
const batchSize = 10_000
const minBacklog = 20_000

/** Watches the memory of a dispatcher that always has more to do than it can. */
export const memory: Benchmark = {
  name: 'memory',
  title: 'Memory of a dispatcher at full load, 200 calls in parallel',
  async run(lab, { minutes }) {
    const lastsMs = minutes === null ? shortLookMs : minutes * 60_000
    const samples = await inFreshDatabase(lab, database => watchMemory(lab, database, lastsMs))()
    const { count } = await lab.target.counter.reached(0)
    const third = Math.floor(samples.length / 3)
    const [middle, end] = [samples.slice(third, 2 * third), samples.slice(2 * third)]
    return {
      rounds: { seconds: lastsMs / 1000, calls: count, megabytes: samples },
      notes: minutes === null ? ['A short look; --minutes 5 watches longer.'] : [],
      figures: [
        {
          key: 'dispatcher_memory_mb',
          title: 'highest resident memory',
          unit: 'MB',
          ...measured([Math.max(...samples)]),
          limit: { atMost: 250 },
        },
        {
          key: 'dispatcher_memory_growth',
          title: 'its median in the last third / in the second third',
          ...measured([quantile(end, 0.5) / quantile(middle, 0.5)]),
          limit: { atMost: 1.1 },
        },
      ],
    }
  },
}

// Resident memory in megabytes.
async function watchMemory(lab: Lab, database: Database, lastsMs: number): Promise<number[]> {
  await using belfry = await startBelfry(lab, database, { services: ['scheduler', 'dispatcher'] })
  const [, dispatcher] = belfry.pids
  const ended = AbortSignal.timeout(lastsMs)
  const busy = keepBusy(lab, database, ended)
  const megabytes: number[] = []
  while (!ended.aborted) {
    megabytes.push(Number(/VmRSS:\s+(\d+)/.exec(readProc(`${dispatcher}/status`))?.[1]) / 1024)
    await Promise.race([sleep(sampleMs), busy])
  }
  await busy
  return megabytes
}

async function keepBusy(lab: Lab, database: Database, ended: AbortSignal): Promise<void> {
  const { counter } = lab.target
  counter.reset()
  for (let stored = 0; !ended.aborted; ) {
    const { count } = await counter.reached(0)
    if (stored - count > minBacklog) {
      await sleep(sampleMs)
      continue
    }
    const tasks = await storeTasks(database, { count: batchSize, url: lab.target.url(), dueInMs: 1_500 })
    await promote(database, tasks)
    stored += batchSize
    if (ended.aborted) await requireRecorded(database, tasks)
  }
}
