import { randomUUID } from 'node:crypto'
import {
  claimTasks,
  deleteOldRuns,
  foldRunChanges,
  foldUsageChanges,
  insertTasks,
  openPool,
  type Pool,
  raiseWaitingFloor,
  recordAttempts,
} from '@belfry/db'
import type { Benchmark, Figure } from '../benchmark.ts'
import { newTasks, taskOf, toSuccess } from '../lab/attempts.ts'
import { type Database, readRow } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { cpuPerOperation, readCpu } from '../measure/cpu-time.ts'
import { measured, quantile } from '../measure/statistics.ts'

const days = 30
const keptDays = 7
const tasksPerDay = 20_000
const batch = 50
const lanes = 4

type Day = { sizeMb: number; deadRows: number; cpuUs: number; maxMs: number }

/**
 * A month of operation in minutes: each day creates, claims and records tasks, and deletes the log of the day that is a week
 * old. With a day of some seconds, autovacuum looks each second.
 */
export const month: Benchmark = {
  name: 'month',
  title: `A month of ${days} days with ${tasksPerDay.toLocaleString('en')} tasks each, kept for ${keptDays} days`,
  async run(lab) {
    const database = await lab.freshDatabase()
    await setVacuumPause(database, '1s')
    const pool = openPool(database.url, { max: lanes + 1, onError: () => {} })
    try {
      const samples = await simulate(lab, pool, database)
      return { rounds: samples, figures: figuresOf(samples) }
    } finally {
      await pool.end()
      await setVacuumPause(database, '1min')
      await database.close()
    }
  },
}

// The first days fill the log, so the second and the fourth week are compared. Elapsed times depend on the machine's load.
function figuresOf(samples: readonly Day[]): Figure[] {
  const [second, fourth] = [samples.slice(keptDays + 1, 2 * keptDays + 1), samples.slice(-keptDays)]
  const ratio = (part: keyof Day) => {
    const medianOf = (week: readonly Day[]) =>
      quantile(
        week.map(day => day[part]),
        0.5,
      )
    return measured([medianOf(fourth) / medianOf(second)])
  }
  return [
    {
      key: 'month_size',
      title: 'size of the tables, fourth / second week',
      ...ratio('sizeMb'),
      limit: { atMost: 1.15 },
    },
    {
      key: 'month_cpu',
      title: "PostgreSQL's CPU of a task with vacuum, fourth / second week",
      ...ratio('cpuUs'),
      limit: { atMost: 1.15 },
    },
    { key: 'month_size_mb', title: 'size of the tables', unit: 'MB', ...measured(fourth.map(({ sizeMb }) => sizeMb)) },
    { key: 'month_dead_rows', title: 'dead rows', unit: '', ...measured(fourth.map(({ deadRows }) => deadRows)) },
    { key: 'month_max_ms', title: 'slowest statement', unit: 'ms', ...measured(fourth.map(({ maxMs }) => maxMs)) },
  ]
}

async function simulate({ postgres }: Lab, pool: Pool, database: Database): Promise<Day[]> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM workspaces ORDER BY id')
  const workspaceIds = rows.map(({ id }) => id)
  const beginnings: number[] = []
  const samples: Day[] = []
  for (let day = 0; day < days; day++) {
    beginnings.push(Date.now())
    const groups = { postgres: [postgres.pid] }
    const cpu = readCpu(groups)
    const elapsed = await work(pool, workspaceIds)
    // The log before this time is a week old.
    const before = beginnings[day - keptDays + 1]
    if (before !== undefined) await expire(pool, workspaceIds, (Date.now() - before) / 86_400_000)
    while ((await foldUsageChanges(pool, 10_000)) === 10_000);
    while ((await foldRunChanges(pool, 1_000)) === 1_000);
    await raiseWaitingFloor(pool)
    const cpuUs = cpuPerOperation(cpu, readCpu(groups), tasksPerDay).postgres ?? Number.NaN
    samples.push({ ...(await readTables(database)), cpuUs, maxMs: Math.max(...elapsed) })
  }
  return samples
}

// Returns how long each statement took.
async function work(pool: Pool, workspaceIds: readonly string[]): Promise<number[]> {
  const elapsed: number[] = []
  async function timed<T>(statement: Promise<T>): Promise<T> {
    const began = performance.now()
    const result = await statement
    elapsed.push(performance.now() - began)
    return result
  }
  const waiting = newTasks(workspaceIds, () => null, { batches: tasksPerDay / batch, batch }).values()
  const dispatcherId = randomUUID()
  const lane = async () => {
    for (const tasks of waiting) {
      await timed(insertTasks(pool, tasks))
      const requests = tasks.map(({ id }) => ({ taskId: id, token: randomUUID() }))
      const claims = (await timed(claimTasks(pool, { dispatcherId }, requests))).flatMap(taskOf)
      if (claims.length !== batch) throw new Error(`${claims.length} of ${batch} tasks were claimed.`)
      await timed(recordAttempts(pool, claims.map(toSuccess)))
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return elapsed
}

async function expire(pool: Pool, workspaceIds: readonly string[], olderThanDays: number): Promise<void> {
  for (const workspaceId of workspaceIds) {
    let after: string | null = null
    for (;;) {
      const page: Awaited<ReturnType<typeof deleteOldRuns>> = await deleteOldRuns(
        pool,
        workspaceId,
        olderThanDays,
        1_000,
        after,
      )
      after = page.last
      if (page.examined < 1_000) break
    }
  }
}

async function readTables(database: Database): Promise<Pick<Day, 'sizeMb' | 'deadRows'>> {
  return readRow(
    database,
    `SELECT (sum(pg_total_relation_size(relid)) / 1e6)::float8 AS "sizeMb", sum(n_dead_tup)::float8 AS "deadRows"
     FROM pg_stat_user_tables`,
  )
}

async function setVacuumPause({ pool }: Database, pause: string): Promise<void> {
  await pool.query(`ALTER SYSTEM SET autovacuum_naptime = '${pause}'`)
  await pool.query('SELECT pg_reload_conf()')
}
