import { randomUUID } from 'node:crypto'
import { type ClaimedTask, claimTasks, insertTasks, openPool, type Pool, recordAttempts } from '@belfry/db'
import type { Benchmark } from '../benchmark.ts'
import { newTasks, taskOf, toSuccess } from '../lab/attempts.ts'
import type { Lab } from '../lab/lab.ts'
import { interleave } from '../measure/interleave.ts'
import { quantile, ratioOf } from '../measure/statistics.ts'
import { rates, totalCpuUs } from '../measure/window.ts'
import { withoutRedisSide } from '../sides/belfry.ts'

const concurrency = 200
const count = 12_000
const records = 200
const batch = 100
const setTrigger = (verb: 'ENABLE' | 'DISABLE') => `ALTER TABLE runs ${verb} TRIGGER count_new_runs`

/** Compares dispatches and records with the statistics of runs, and without them. */
export const statistics: Benchmark = {
  name: 'statistics',
  title: 'Runs with statistics against runs without',
  async run(lab, { rounds }) {
    const [withTrigger, withoutTrigger] = [withoutRedisSide(lab), withoutRedisSide(lab, setTrigger('DISABLE'))]
    const { counted, uncounted } = await interleave(
      {
        counted: () => withTrigger({ concurrency, count }),
        uncounted: () => withoutTrigger({ concurrency, count }),
      },
      rounds,
    )
    const { recorded } = await interleave({ recorded: () => measureRecords(lab) }, rounds)
    return {
      rounds: { counted, uncounted, recorded },
      figures: [
        {
          key: 'dispatch_statistics',
          title: 'dispatches a second with statistics / without, 200 in parallel',
          ...ratioOf(rates(counted), rates(uncounted)),
          limit: { atLeast: 0.98 },
        },
        {
          key: 'dispatch_statistics_cpu',
          title: 'CPU of a dispatch over Node and PostgreSQL with statistics / without',
          ...ratioOf(counted.map(totalCpuUs), uncounted.map(totalCpuUs)),
          limit: { atMost: 1.02 },
        },
        {
          key: 'record_statistics',
          title: `records of ${batch} attempts a second with statistics / without`,
          ...ratioOf(
            recorded.map(({ uncountedMs }) => uncountedMs),
            recorded.map(({ countedMs }) => countedMs),
          ),
          limit: { atLeast: 0.98 },
        },
      ],
    }
  },
}

/** Records attempts with the trigger and without it, in turns, and returns the median times of a statement. */
async function measureRecords(lab: Lab): Promise<{ countedMs: number; uncountedMs: number }> {
  const database = await lab.freshDatabase()
  const pool = openPool(database.url, { max: 1, onError: () => {} })
  try {
    const { rows } = await database.pool.query<{ id: string }>('SELECT id FROM workspaces ORDER BY id LIMIT 1')
    const workspaceIds = rows.map(({ id }) => id)
    const times = { ENABLE: [] as number[], DISABLE: [] as number[] }
    for (let record = 0; record < records; record++) {
      const verb = record % 2 === 0 ? 'ENABLE' : 'DISABLE'
      const tasks = await claimNew(pool, workspaceIds)
      await database.pool.query(setTrigger(verb))
      const attempts = tasks.map(toSuccess)
      const began = performance.now()
      const stored = await recordAttempts(pool, attempts)
      times[verb].push(performance.now() - began)
      if (stored.some(one => one === null)) throw new Error('An attempt was not recorded.')
    }
    return { countedMs: quantile(times.ENABLE, 0.5), uncountedMs: quantile(times.DISABLE, 0.5) }
  } finally {
    await pool.end()
    await database.close()
  }
}

async function claimNew(pool: Pool, workspaceIds: readonly string[]): Promise<ClaimedTask[]> {
  const [tasks = []] = newTasks(workspaceIds, () => null, { batches: 1, batch })
  await insertTasks(pool, tasks)
  const requests = tasks.map(({ id }) => ({ taskId: id, token: randomUUID() }))
  return (await claimTasks(pool, { dispatcherId: randomUUID() }, requests)).flatMap(taskOf)
}
