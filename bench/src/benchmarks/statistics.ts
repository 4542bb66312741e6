import { randomUUID } from 'node:crypto'
import { type ClaimedTask, claimTasks, insertTasks, openPool, type Pool, recordAttempts } from '@belfry/db'
import type { Benchmark } from '../benchmark.ts'
import { newTasks, taskOf, toSuccess } from '../lab/attempts.ts'
import { readRow } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { readCpu } from '../measure/cpu-time.ts'
import { interleave } from '../measure/interleave.ts'
import { quantile, ratioOf } from '../measure/statistics.ts'
import { rates, totalCpuUs } from '../measure/window.ts'
import { withoutRedisSide } from '../sides/belfry.ts'

const concurrency = 200
const count = 12_000
const records = 200
const batch = 100
const disableTrigger = 'ALTER TABLE runs DISABLE TRIGGER count_new_runs'

/** Compares dispatches and records with the statistics of runs, and without them. */
export const statistics: Benchmark = {
  name: 'statistics',
  title: 'Runs with statistics against runs without',
  async run(lab, { rounds }) {
    const [withTrigger, withoutTrigger] = [withoutRedisSide(lab), withoutRedisSide(lab, disableTrigger)]
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
            recorded.map(({ uncounted }) => uncounted.ms),
            recorded.map(({ counted }) => counted.ms),
          ),
          limit: { atLeast: 0.98 },
        },
        {
          key: 'record_statistics_cpu',
          title: `PostgreSQL's CPU of a record of ${batch} attempts with statistics / without`,
          ...ratioOf(
            recorded.map(({ counted }) => counted.cpuUs),
            recorded.map(({ uncounted }) => uncounted.cpuUs),
          ),
        },
      ],
    }
  },
}

type RecordTimes = { ms: number; cpuUs: number }

/** Records attempts with the trigger and without it, in turns, and returns the medians of a statement. */
async function measureRecords(lab: Lab): Promise<{ counted: RecordTimes; uncounted: RecordTimes }> {
  // In databases of their own: a change of the trigger would make PostgreSQL plan the statements again.
  const [counted, uncounted] = [await openRecorder(lab), await openRecorder(lab, disableTrigger)]
  try {
    for (let record = 0; record < records; record++) {
      for (const { measure } of record % 2 === 0 ? [counted, uncounted] : [uncounted, counted]) await measure()
    }
    return { counted: counted.medians(), uncounted: uncounted.medians() }
  } finally {
    await counted.close()
    await uncounted.close()
  }
}

async function openRecorder(lab: Lab, change?: string) {
  const database = await lab.freshDatabase()
  if (change !== undefined) await database.pool.query(change)
  const pool = openPool(database.url, { max: 1, plansOnce: true, onError: () => {} })
  const workspaces = await database.pool.query<{ id: string }>('SELECT id FROM workspaces ORDER BY id LIMIT 1')
  const workspaceIds = workspaces.rows.map(({ id }) => id)
  const { pid } = await readRow<{ pid: number }>({ pool }, 'SELECT pg_backend_pid() AS pid')
  const cpuUs = () => readCpu({ backend: [pid] }).backend ?? 0
  const times: RecordTimes[] = []
  return {
    async measure() {
      const attempts = (await claimNew(pool, workspaceIds)).map(toSuccess)
      const [cpuBefore, began] = [cpuUs(), performance.now()]
      const stored = await recordAttempts(pool, attempts)
      const ms = performance.now() - began
      if (stored.some(one => one === null)) throw new Error('An attempt was not recorded.')
      times.push({ ms, cpuUs: cpuUs() - cpuBefore })
    },
    medians(): RecordTimes {
      const medianOf = (name: keyof RecordTimes) =>
        quantile(
          times.map(one => one[name]),
          0.5,
        )
      return { ms: medianOf('ms'), cpuUs: medianOf('cpuUs') }
    },
    async close() {
      await pool.end()
      await database.close()
    },
  }
}

async function claimNew(pool: Pool, workspaceIds: readonly string[]): Promise<ClaimedTask[]> {
  const [tasks = []] = newTasks(workspaceIds, () => null, { batches: 1, batch })
  await insertTasks(pool, tasks)
  const requests = tasks.map(({ id }) => ({ taskId: id, token: randomUUID() }))
  return (await claimTasks(pool, { dispatcherId: randomUUID() }, requests)).flatMap(taskOf)
}
