import { randomUUID } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEmptyDatabase } from '@belfry/test-support'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  backfillRunStatistics,
  countRuns,
  deleteOldStatistics,
  foldRunChanges,
  inTransaction,
  openPool,
  recordAttempts,
  type Transaction,
} from '../src/index.ts'
import { deployMigrations } from '../src/migrate/index.ts'
import { findMigrationFolder } from '../src/migrate/migration-folder.ts'
import { loseAttempts } from '../src/tasks/lose-attempts.ts'
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
  const { agoMs, lagMs, status, in_statistics } = { ...aRun, ...changes }
  return tx.query(
    `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, in_statistics)
     SELECT uuid_v7(at), $1, gen_random_uuid(), 1, 'task', $5::run_status, at - $4 * interval '1 ms', at, at, $6
     FROM generate_series(1, $2), LATERAL (SELECT now() - $3 * interval '1 ms' AS at) t`,
    [workspaceId, count, agoMs, lagMs, status, in_statistics],
  )
}
const aRun = { agoMs: 0, lagMs: 0, status: 'success', in_statistics: true as boolean | null }

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

  it('belong to one workspace', async () => {
    await storeRuns(db.pool, 2)
    await foldAll()
    workspaceId = randomUUID()
    expect((await counts()).month.whole.total).toBe(0)
  })
})

describe('the backfill', () => {
  beforeEach(async () => {
    await db.pool.query('TRUNCATE runs; TRUNCATE run_changes; TRUNCATE run_statistics')
    await db.pool.query('UPDATE run_statistics_backfill SET workspace_id = $1, run_id = $1, finished_at = NULL', [
      '00000000-0000-0000-0000-000000000000',
    ])
  })

  // Runs from before the migration have no mark, and no delta.
  async function storeOldRuns(count: number, changes: Partial<typeof aRun> = {}) {
    await storeRuns(db.pool, count, { ...changes, in_statistics: null })
    await db.pool.query('TRUNCATE run_changes')
  }

  it('counts old runs once, beyond one batch, and beside new ones that the triggers count', async () => {
    await storeOldRuns(25, { agoMs: 3 * hourMs, lagMs: 100 })
    const first = workspaceId
    workspaceId = randomUUID()
    await storeOldRuns(12, { agoMs: hourMs, status: 'failed' })
    await storeRuns(db.pool, 5)
    await foldAll()
    const read: number[] = []
    for (let batch = 10; batch === 10; read.push(batch)) batch = await backfillRunStatistics(db.pool, 10)
    expect(read).toEqual([10, 10, 10, 10, 2])
    expect(await backfillRunStatistics(db.pool, 10)).toBe(0)
    const { day, month } = await counts()
    expect(day.whole).toMatchObject({ total: 17, failed: 12 })
    expect(month.whole).toEqual(day.whole)
    workspaceId = first
    expect((await counts()).month.whole).toMatchObject({ total: 25, failed: 0 })
  })

  it('runs in one scheduler at a time', async () => {
    await storeOldRuns(30)
    const read = await Promise.all([1, 2, 3].map(() => backfillRunStatistics(db.pool, 1_000)))
    expect(read.toSorted()).toEqual([0, 0, 30])
    expect((await counts()).day.whole.total).toBe(30)
  })

  it('counts the runs that an installation had before the upgrade, and no later one twice', async () => {
    const { url, drop } = await createEmptyDatabase()
    const folder = await mkdtemp(join(tmpdir(), 'belfry-migrations-'))
    const pool = openPool(url, { max: 2, onError: error => console.error(error) })
    try {
      await cp(findMigrationFolder(), folder, { recursive: true, filter: path => !path.includes('_run_statistics') })
      await deployMigrations(url, folder)
      const insert = `
        INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at)
        SELECT uuid_v7(now()), $1, gen_random_uuid(), 1, 'task', 'failed', now(), now(), now() FROM generate_series(1, 4)`
      await pool.query(insert, [workspaceId])
      await deployMigrations(url)
      await pool.query(insert, [workspaceId]) // as a process of the previous version does
      expect(await backfillRunStatistics(pool, 100)).toBe(8)
      expect(await foldRunChanges(pool, 100)).toBe(1)
      const span = { fromMs: Math.floor(Date.now() / hourMs) * hourMs - hourMs, bucketMs: hourMs, count: 2 }
      expect((await countRuns(pool, workspaceId, span)).whole).toMatchObject({ total: 8, failed: 8 })
    } finally {
      await pool.end()
      await drop()
      await rm(folder, { recursive: true })
    }
  })

  it('leaves out runs that no range shows', async () => {
    await storeOldRuns(3, { agoMs: 33 * 24 * hourMs })
    expect(await backfillRunStatistics(db.pool, 10)).toBe(0)
  })
})

it('statistics per minute are deleted after 8 days, and per hour after 32, in batches', async () => {
  await db.pool.query('TRUNCATE run_statistics')
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
})
