import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { inTransaction, type Transaction } from '../src/postgres/in-transaction.ts'
import { foldRunChanges } from '../src/run-statistics/fold-run-changes.ts'
import { countHosts } from '../src/run-statistics/host-statistics.ts'
import { countRuns, deleteOldStatistics } from '../src/run-statistics/run-statistics.ts'
import { loseAttempts } from '../src/tasks/lose-attempts.ts'
import { recordAttempts } from '../src/tasks/record-attempts.ts'
import { claimNew, finished, useDatabase } from './setup.ts'

const db = useDatabase()
const minuteMs = 60_000
const hourMs = 60 * minuteMs

let workspaceId: string
beforeEach(() => {
  workspaceId = randomUUID()
})

/** Stores runs that started `agoMs` ago, each `lagMs` after it was due. */
function storeRuns(tx: Pick<Transaction, 'query'>, count: number, changes: Partial<typeof aRun> = {}) {
  const { agoMs, lagMs, status } = { ...aRun, ...changes }
  return tx.query(
    `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at)
     SELECT uuid_v7(at), $1, gen_random_uuid(), 1, 'task', $5::run_status, at - $4 * interval '1 ms', at, at
     FROM generate_series(1, $2), LATERAL (SELECT now() - $3 * interval '1 ms' AS at) t`,
    [workspaceId, count, agoMs, lagMs, status],
  )
}
const aRun = { agoMs: 0, lagMs: 0, status: 'success' }

async function foldAll(limit = 100): Promise<void> {
  while ((await foldRunChanges(db.pool, limit)) > 0);
}

/** The counts of the last day in half-hours, and of the last 30 days in half-days. */
async function counts() {
  const spanOf = (bucketMs: number, count: number) => {
    const end = (Math.floor(Date.now() / bucketMs) + 1) * bucketMs
    return { fromMs: end - bucketMs * count, bucketMs, count }
  }
  const [day, month] = await Promise.all([
    countRuns(db.pool, workspaceId, spanOf(hourMs / 2, 48)),
    countRuns(db.pool, workspaceId, spanOf(12 * hourMs, 60)),
  ])
  return { day, month }
}

describe('the statistics of runs', () => {
  it('count a run whose transaction commits after those of later runs, and count it once', async () => {
    const [early, late] = [await db.pool.connect(), await db.pool.connect()]
    try {
      await early.query('BEGIN')
      await storeRuns(early, 3, { agoMs: 5_000 })
      await late.query('BEGIN')
      await storeRuns(late, 2, { status: 'failed' })
      await late.query('COMMIT')
      await foldAll()
      expect((await counts()).day.whole).toMatchObject({ total: 2, failed: 2 })
      await early.query('COMMIT')
      await foldAll()
      await foldAll()
      expect((await counts()).day.whole).toMatchObject({ total: 5, failed: 2 })
    } finally {
      early.release()
      late.release()
    }
  })

  it('count nothing of a transaction that is rolled back', async () => {
    const rolledBack = inTransaction(db.pool, async tx => {
      await storeRuns(tx, 3)
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    await foldAll()
    expect((await counts()).day.whole.total).toBe(0)
  })

  it('are exact when four schedulers fold at once while runs are recorded, and beyond one batch', async () => {
    const record = () => storeRuns(db.pool, 3, { status: 'failed', lagMs: Math.floor(Math.random() * 1e5) })
    const fold = () => foldRunChanges(db.pool, 7)
    await Promise.all(Array.from({ length: 200 }, (_, i) => (i % 4 === 0 ? fold() : record())))
    await Promise.all([1, 2, 3, 4].map(() => foldAll(7)))
    const { day, month } = await counts()
    expect(day.whole).toMatchObject({ total: 450, failed: 450 })
    expect(month.whole).toEqual(day.whole)
  })

  it('have the same percentiles of lag in every range, to within 10 percent', async () => {
    for (const [count, lagMs] of [
      [980, 40],
      [15, 7_000],
      [5, 117_000],
    ] as const) {
      await storeRuns(db.pool, count, { lagMs, agoMs: 20 * minuteMs })
    }
    await foldAll()
    const { day, month } = await counts()
    expect(Math.abs((day.whole.lagP50Ms ?? 0) - 40)).toBeLessThanOrEqual(4)
    expect(Math.abs((day.whole.lagP99Ms ?? 0) - 7_000)).toBeLessThan(700)
    expect(month.whole).toEqual(day.whole)
    expect(day.buckets.filter(({ total }) => total > 0)).toEqual([day.whole])
    expect(day.buckets.filter(({ total }) => total === 0)).toHaveLength(47)
    expect(day.buckets.find(({ total }) => total === 0)).toMatchObject({ lagP50Ms: null, lagP99Ms: null })
  })

  it.each([0, 1, 2, 3, 4, 5, 8, 16, 64, 1000, 1024, 65_536, 86_400_000])('keep a lag of %d ms', async lagMs => {
    await storeRuns(db.pool, 1, { lagMs })
    await foldAll()
    const { lagP50Ms } = (await counts()).day.whole
    expect(Math.abs((lagP50Ms ?? -1) - lagMs)).toBeLessThanOrEqual(lagMs < 5 ? 0 : lagMs / 10)
  })

  it('count a recorded attempt, and a lost one, whose late outcome replaces it', async () => {
    const task = await claimNew(db.pool, { workspaceId })
    await loseAttempts(db.pool, [task], false)
    await foldAll()
    expect((await counts()).day.whole).toMatchObject({ total: 1, failed: 1 })
    expect(await recordAttempts(db.pool, [finished(task)])).not.toEqual([null])
    await foldAll()
    expect((await counts()).day.whole).toMatchObject({ total: 1, failed: 0 })
  })

  it('count attempts by host in each window, with the late outcome of a lost one', async () => {
    const [task, other] = [
      await claimNew(db.pool, { workspaceId, url: 'https://One.example:8443/hook?q' }),
      await claimNew(db.pool, { workspaceId, url: `{{ secrets.URL }}${'é'.repeat(900)}` }),
    ]
    await loseAttempts(db.pool, [task, other], false)
    await foldAll()
    const found = async () => {
      const all = await countHosts(db.pool, workspaceId, Date.now())
      return Object.fromEntries(
        all
          .filter(({ host }) => host === 'one.example:8443')
          .map(({ window, attempts, failed }) => [window, [attempts, failed]]),
      )
    }
    expect(await found()).toEqual({ five_minutes: [1, 1], hour: [1, 1], day: [1, 1] })
    expect(await recordAttempts(db.pool, [finished(task)])).not.toEqual([null])
    await foldAll()
    expect(await found()).toEqual({ five_minutes: [1, 0], hour: [1, 0], day: [1, 0] })
    expect(await countHosts(db.pool, workspaceId, Date.now() - hourMs)).toHaveLength(6)
    expect(await countHosts(db.pool, workspaceId, Date.now() + hourMs * 2)).toHaveLength(2)
  })

  it('belong to one workspace', async () => {
    await storeRuns(db.pool, 2)
    await foldAll()
    workspaceId = randomUUID()
    expect((await counts()).month.whole.total).toBe(0)
    expect(await countHosts(db.pool, workspaceId, Date.now())).toEqual([])
  })
})

it('statistics per minute are deleted after 8 days, and per hour after 32, in batches; those of hosts after a day', async () => {
  await db.pool.query('TRUNCATE run_statistics, host_statistics')
  await db.pool.query(
    `INSERT INTO host_statistics SELECT $1, period, now() - hours * interval '1 hour', 'a', 1, 1, 1
     FROM unnest(ARRAY[1, 1, 60, 60], ARRAY[1, 3, 25, 27]) AS s (period, hours)`,
    [workspaceId],
  )
  const daysAgo = (days: number) => days * 24 * hourMs
  for (const days of [7, 9, 9.5, 10, 31, 33, 34]) await storeRuns(db.pool, 1, { agoMs: daysAgo(days) })
  await foldAll()
  expect(await deleteOldStatistics(db.pool, 2)).toBe(2)
  while ((await deleteOldStatistics(db.pool, 2)) > 0);
  const { rows } = await db.pool.query('SELECT period, count(*)::int AS n FROM run_statistics GROUP BY 1 ORDER BY 1')
  expect(rows).toEqual([
    { period: 1, n: 1 },
    { period: 60, n: 5 },
  ])
  const hosts = await db.pool.query('SELECT period FROM host_statistics ORDER BY 1')
  expect(hosts.rows).toEqual([{ period: 1 }, { period: 60 }])
})
