import { randomUUID } from 'node:crypto'
import type { PoolClient } from 'pg'
import { afterEach, expect, it } from 'vitest'
import type { Pool } from '../src/postgres/pool.ts'
import { divideMonth, divideNextMonth } from '../src/retention/divide-month.ts'
import { dropRunPartitions } from '../src/retention/drop-run-partitions.ts'
import { partitionsOfRuns } from '../src/retention/month-parts.ts'
import { countPreparedMonths, prepareRunPartitions } from '../src/retention/run-partitions.ts'
import { addMonth, useOwnDatabase } from './setup.ts'

const db = useOwnDatabase()

// Tests poll the steps on partitions: a call leaves its work for a later one when a statement takes 100 ms.

// Removes the past months of a test, days before the month. A run outside all months would prevent the next one.
afterEach(async () => {
  await db.pool.query('DELETE FROM runs')
  const left = `SELECT FROM (${partitionsOfRuns}) p WHERE parent = 'runs' AND upper < now() - interval '365 days'`
  const countLeft = async () => {
    await dropRunPartitions(db.pool, 365)
    return (await db.pool.query(left)).rowCount
  }
  await expect.poll(countLeft).toBe(0)
})

it('makes and drops partitions while a transaction reads all runs, and blocks no record for 200 ms', async () => {
  const old = await addMonth(db.pool, 30)
  const ahead = await countPreparedMonths(db.pool)
  const reader = await readInTransaction('SELECT count(*) FROM runs')
  let recorder = startRecorder('200ms')
  let recorded = 0
  try {
    for (let i = 0; i < 5; i++) {
      expect((await prepareRunPartitions(db.pool, ahead + 1)).missing).toHaveLength(1)
      expect(await dropRunPartitions(db.pool, 365)).toEqual([])
    }
    recorded = await recorder.stop()
    recorder = startRecorder('5s')
    await reader.end()
    await expect.poll(() => prepareRunPartitions(db.pool, ahead + 1)).toEqual({ made: [], missing: [] })
    const find = `SELECT to_regclass('run_partitions.${old}') AS name`
    const isDropped = async () => {
      await dropRunPartitions(db.pool, 365)
      return (await db.pool.query(find)).rows[0].name === null
    }
    await expect.poll(isDropped).toBe(true)
  } finally {
    await reader.end()
    recorded += await recorder.stop()
  }
  expect(recorded).toBeGreaterThan(100)
  expect(await countPreparedMonths(db.pool)).toBe(ahead + 1)
})

it('makes each partition once while a transaction reads the runs of a month, with several callers', async () => {
  const ahead = await countPreparedMonths(db.pool)
  const { rows } = await db.pool.query(`SELECT 'runs_' || to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM') AS name`)
  const reader = await readInTransaction(`SELECT count(*) FROM run_partitions.${rows[0].name}`)
  try {
    await expect
      .poll(async () => {
        await Promise.all([1, 2, 3].map(() => prepareRunPartitions(db.pool, ahead + 2)))
        return countPreparedMonths(db.pool)
      })
      .toBe(ahead + 2)
  } finally {
    await reader.end()
  }
  const partitions = `SELECT relname AS name, (SELECT count(*)::int FROM pg_index WHERE indrelid = inhrelid) AS indexes
                      FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'runs'::regclass`
  const made = (await db.pool.query(partitions)).rows
  expect(new Set(made.map(({ indexes }) => indexes))).toHaveLength(1)
})

it('leaves out a month whose runs are in the default partition', async () => {
  const ahead = await countPreparedMonths(db.pool)
  const inMonths = `now() + interval '${ahead + 1} months'`
  await db.pool.query(`INSERT INTO runs (${columns}) VALUES (uuid_v7(${inMonths}), ${values})`)
  expect((await prepareRunPartitions(db.pool, ahead + 1)).missing).toHaveLength(1)
  expect(await countPreparedMonths(db.pool)).toBe(ahead)
})

it('divides the next month into days when a day has a million runs, and blocks no record for 200 ms', async () => {
  const month = await nextMonth()
  expect(await divideNextMonth(db.pool, 30)).toBeNull()
  await pretendRunsThisMonth(31_000_000)
  const reader = await readInTransaction('SELECT count(*) FROM runs')
  let recorder = startRecorder('200ms')
  let recorded = 0
  try {
    expect(await Promise.all([1, 2].map(() => divideNextMonth(db.pool, 30)))).toEqual([null, null])
    recorded = await recorder.stop()
    recorder = startRecorder('5s')
    await reader.end()
    await expect
      .poll(async () => {
        await Promise.all([1, 2].map(() => divideNextMonth(db.pool, 30)))
        return partsOf(month.name)
      })
      .toHaveLength(month.days + 1)
  } finally {
    await reader.end()
    recorded += await recorder.stop()
  }
  expect(recorded).toBeGreaterThan(10)
  expect(await divideNextMonth(db.pool, 30)).toBeNull()
  const { rows } = await db.pool.query(
    `WITH edges AS (SELECT $1::timestamptz AS at UNION ALL SELECT $1::timestamptz + interval '10 days' - interval '1 ms')
     INSERT INTO runs (${columns}) SELECT uuid_v7(at), ${values} FROM edges RETURNING tableoid::regclass::text AS partition`,
    [month.starts],
  )
  expect(rows.map(({ partition }) => partition)).toEqual([1, 10].map(day => `run_partitions.${month.name}_${pad(day)}`))
  expect((await prepareRunPartitions(db.pool, 1)).missing).toEqual([])
  const { rows: indexes } = await db.pool.query(
    `SELECT DISTINCT (SELECT count(*)::int FROM pg_index WHERE indrelid = relid) AS n FROM pg_partition_tree('runs')`,
  )
  expect(indexes).toHaveLength(1)
})

it('leaves a month with runs, and what an interrupted call has built, for a later call', async () => {
  const month = await addPastMonth(27)
  await db.pool.query(`INSERT INTO runs (${columns}) VALUES (uuid_v7($1::timestamptz), ${values})`, [month.starts])
  expect(await divideMonth(db.pool, month, 7)).toBe(false)
  await db.pool.query(`DELETE FROM runs WHERE id < uuid_v7_floor($1::timestamptz + interval '1 day')`, [month.starts])
  await expect.poll(() => divideMonth(db.pool, month, 7)).toBe(true)
  const parts = [1, 8, 15, 22, 29].filter(day => day <= month.days).map(day => `${month.name}_${pad(day)}`)
  expect(await partsOf(month.name)).toEqual([...parts, `${month.name}_rest`])
  expect(await divideMonth(db.pool, month, 7)).toBe(false)
})

it('drops the days of a divided month, and moves their last runs to its rest, with several callers', async () => {
  const month = await addPastMonth(25)
  await expect.poll(() => divideMonth(db.pool, month, 1)).toBe(true)
  const { rows: kept } = await db.pool.query(
    `INSERT INTO runs (${columns})
     SELECT uuid_v7($1::timestamptz + i * interval '1 day'), ${values} FROM generate_series(0, 3) i RETURNING id`,
    [month.starts],
  )
  await addRuns(month.starts, 10_001)
  await db.pool.query(`INSERT INTO runs (${columns}) VALUES (uuid_v7(now()), ${values})`)
  const find = async () =>
    (
      await db.pool.query('SELECT tableoid::regclass::text AS partition FROM runs WHERE id = ANY ($1)', [
        kept.map(({ id }) => id),
      ])
    ).rows
  const recorder = startRecorder('5s')
  const drops = Promise.all([1, 2].map(() => dropRunPartitions(db.pool, 365)))
  const dropped = (await drops.finally(recorder.stop)).flat()
  expect(new Set(dropped)).toHaveLength(dropped.length)
  const leftParts = async () => {
    await dropRunPartitions(db.pool, 365) // what a caller left because another one had the lock
    return partsOf(month.name)
  }
  // The first day has more runs than are moved at once.
  await expect.poll(leftParts).toEqual([`${month.name}_01`, `${month.name}_rest`])
  const rest = { partition: `run_partitions.${month.name}_rest` }
  expect(await find()).toEqual([{ partition: `run_partitions.${month.name}_01` }, rest, rest, rest])
  await db.pool.query(`DELETE FROM runs WHERE id <> ALL ($1) AND id < uuid_v7_floor(now() - interval '1 year')`, [
    kept.map(({ id }) => id),
  ])
  await expect.poll(() => dropRunPartitions(db.pool, 365)).toEqual([`${month.name}_01`])
  expect(await find()).toEqual([rest, rest, rest, rest])
  await db.pool.query(`DELETE FROM runs WHERE id = ANY ($1)`, [kept.map(({ id }) => id)])
  await expect.poll(() => dropRunPartitions(db.pool, 365)).toEqual([month.name])
})

it('leaves a day that another caller moves to the rest after the runs were counted', async () => {
  const month = await addPastMonth(21)
  await expect.poll(() => divideMonth(db.pool, month, 1)).toBe(true)
  await addRuns(month.starts, 3)
  const leftByAnother = async () => {
    await dropRunPartitions(db.pool, 365)
    return partsOf(month.name)
  }
  const pool: Pool = Object.assign(Object.create(db.pool), {
    async query(text: string, params?: unknown[]) {
      const result = await db.pool.query(text, params)
      if (result.rows[0]?.n === 3) await expect.poll(leftByAnother).toEqual([`${month.name}_rest`])
      return result
    },
  })
  expect(await dropRunPartitions(pool, 365)).toEqual([])
  expect(await partsOf(month.name)).toEqual([`${month.name}_rest`])
  const { rows } = await db.pool.query(`SELECT count(*)::int AS n FROM run_partitions.${month.name}_rest`)
  expect(rows).toEqual([{ n: 3 }])
})

it('moves the runs of a day whose drop was interrupted', async () => {
  const month = await addPastMonth(23)
  await expect.poll(() => divideMonth(db.pool, month, 1)).toBe(true)
  await addRuns(month.starts, 3)
  const day = `run_partitions.${month.name}_01`
  await db.pool.query(`ALTER TABLE run_partitions.${month.name} DETACH PARTITION ${day}`)
  await db.pool.query(`ALTER TABLE ${day} RENAME TO ${month.name}_01_detached`)
  const count = `SELECT count(waited_for)::int AS n FROM run_partitions.${month.name}`
  expect((await db.pool.query(count)).rows).toEqual([{ n: 0 }])
  const dropped = await Promise.all([1, 2].map(() => dropRunPartitions(db.pool, 365)))
  expect(dropped.flat()).not.toContain(month.name)
  expect((await db.pool.query(count)).rows).toEqual([{ n: 3 }])
})

const columns = 'id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, waited_for'
const values = `gen_random_uuid(), gen_random_uuid(), 1, 'task', 'success', now(), now(), now(), 'backlog'`

const pad = (day: number) => String(day).padStart(2, '0')

type TestMonth = { name: string; lower: string; upper: string; starts: Date; days: number; isThere: boolean }

async function readMonth(fromNow: number): Promise<TestMonth> {
  const { rows } = await db.pool.query<TestMonth>(
    `SELECT 'runs_' || to_char(starts AT TIME ZONE 'UTC', 'YYYY_MM') AS name, uuid_v7_floor(starts) AS lower,
            uuid_v7_floor(ends) AS upper, starts, extract(day FROM ends - starts)::int AS days, true AS "isThere"
     FROM (SELECT date_trunc('month', now(), 'UTC') AS now) m, LATERAL (
       SELECT (now AT TIME ZONE 'UTC' + $1 * interval '1 month') AT TIME ZONE 'UTC' AS starts,
              (now AT TIME ZONE 'UTC' + ($1 + 1) * interval '1 month') AT TIME ZONE 'UTC' AS ends
     ) edges`,
    [fromNow],
  )
  if (!rows[0]) throw new Error('No month.')
  return rows[0]
}

const nextMonth = () => readMonth(1)

async function addPastMonth(monthsAgo: number): Promise<TestMonth> {
  await addMonth(db.pool, monthsAgo)
  return readMonth(-monthsAgo)
}

async function partsOf(month: string): Promise<string[]> {
  const text = `SELECT relname AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid
                WHERE inhparent = to_regclass($1) ORDER BY relname`
  const { rows } = await db.pool.query<{ name: string }>(text, [`run_partitions.${month}`])
  return rows.map(({ name }) => name)
}

// As if the statistics had counted these runs.
async function pretendRunsThisMonth(count: number): Promise<void> {
  const { name } = await readMonth(0)
  await db.pool.query('UPDATE pg_class SET reltuples = $2 WHERE oid = to_regclass($1)', [
    `run_partitions.${name}`,
    count,
  ])
}

async function addRuns(from: Date, count: number): Promise<void> {
  await db.pool.query(
    `INSERT INTO runs (${columns})
     SELECT uuid_v7($1::timestamptz + interval '1 hour' + i * interval '1 ms'), ${values} FROM generate_series(1, $2::int) i`,
    [from, count],
  )
}

/** Opens a transaction, reads, and leaves it open. */
async function readInTransaction(query: string): Promise<{ end(): Promise<void> }> {
  const client: PoolClient = await db.pool.connect()
  await client.query('BEGIN')
  await client.query(query)
  let isOpen = true
  return {
    async end() {
      if (!isOpen) return
      isOpen = false
      await client.query('COMMIT')
      client.release()
    },
  }
}

/**
 * Records runs until it is stopped. Fails when one waits longer for a lock. While a reader blocks the partitions, PostgreSQL's
 * own timers decide. Without a reader, a record waits for the statements of a whole transaction, which a busy machine slows.
 */
function startRecorder(lockTimeout: '200ms' | '5s'): { stop(): Promise<number> } {
  let isStopped = false
  let recorded = 0
  const running = (async () => {
    const client = await db.pool.connect()
    try {
      await client.query(`SET lock_timeout = '${lockTimeout}'`)
      while (!isStopped) {
        await client.query(`INSERT INTO runs (${columns}) VALUES (uuid_v7(now(), $1), ${values})`, [randomUUID()])
        recorded++
      }
    } finally {
      client.release(true)
    }
  })()
  running.catch(() => {}) // seen by stop
  return {
    async stop() {
      isStopped = true
      await running
      return recorded
    },
  }
}
