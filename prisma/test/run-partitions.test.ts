import { randomUUID } from 'node:crypto'
import type { PoolClient } from 'pg'
import { expect, it } from 'vitest'
import { countPreparedMonths, dropRunPartitions, prepareRunPartitions } from '../src/index.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()

it('makes and drops partitions while a transaction reads all runs, and blocks no record for 200 ms', async () => {
  const old = await addMonth(30)
  const ahead = await countPreparedMonths(db.pool)
  const reader = await readInTransaction('SELECT count(*) FROM runs')
  const recorder = startRecorder()
  try {
    for (let i = 0; i < 5; i++) {
      expect((await prepareRunPartitions(db.pool, ahead + 1)).missing).toHaveLength(1)
      expect(await dropRunPartitions(db.pool, 365)).toEqual([])
    }
    await reader.end()
    await expect.poll(() => prepareRunPartitions(db.pool, ahead + 1)).toEqual({ made: [], missing: [] })
    await expect.poll(() => dropRunPartitions(db.pool, 365)).toEqual([])
  } finally {
    await reader.end()
    expect(await recorder.stop()).toBeGreaterThan(100)
  }
  expect(await countPreparedMonths(db.pool)).toBe(ahead + 1)
  expect((await db.pool.query(`SELECT to_regclass('run_partitions.${old}') AS name`)).rows).toEqual([{ name: null }])
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

const columns = 'id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at'
const values = `gen_random_uuid(), gen_random_uuid(), 1, 'task', 'success', now(), now(), now()`

async function addMonth(monthsAgo: number): Promise<string> {
  const { rows } = await db.pool.query(
    `SELECT 'runs_' || to_char(month, 'YYYY_MM') AS name, uuid_v7_floor(month) AS first,
            uuid_v7_floor(month + interval '1 month') AS next
     FROM (SELECT date_trunc('month', now(), 'UTC') - $1 * interval '1 month' AS month) m`,
    [monthsAgo],
  )
  const { name, first, next } = rows[0]
  await db.pool.query(
    `CREATE TABLE run_partitions.${name} PARTITION OF runs FOR VALUES FROM ('${first}') TO ('${next}')`,
  )
  return name
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

/** Records runs until it is stopped. Fails when one waits 200 ms for a lock, independently of the load of the machine. */
function startRecorder(): { stop(): Promise<number> } {
  let isStopped = false
  let recorded = 0
  const running = (async () => {
    const client = await db.pool.connect()
    try {
      await client.query(`SET lock_timeout = '200ms'`)
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
