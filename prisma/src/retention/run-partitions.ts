import { isLockTimeout, isStatementTimeout } from '../postgres/database-errors.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

type PreparedPartitions = {
  made: string[]
  /** Not made, because a transaction reads `runs` or the default partition has runs of that month. */
  missing: string[]
}

type Month = { name: string; lower: string; upper: string; isThere: boolean }

/**
 * Makes the partitions of this month and of `monthsAhead` months after it, without blocking other statements. Any number of
 * callers may run at once. The lock for attaching a partition does not block inserts into other partitions. It needs the
 * default partition exclusively, so while a transaction reads that one, the month waits for the next call.
 */
export async function prepareRunPartitions(pool: Pool, monthsAhead: number): Promise<PreparedPartitions> {
  const result: PreparedPartitions = { made: [], missing: [] }
  for (const month of await readMonths(pool, monthsAhead)) {
    if (month.isThere) continue
    const isMade = await makePartition(pool, month)
    result[isMade ? 'made' : 'missing'].push(month.name)
  }
  return result
}

/** Returns how many months after this one have a partition, without a gap; -1 when this month has none. */
export async function countPreparedMonths(pool: Pool): Promise<number> {
  const months = await readMonths(pool, 12)
  const firstGap = months.findIndex(({ isThere }) => !isThere)
  return (firstGap === -1 ? months.length : firstGap) - 1
}

/** Counts the runs that are in no partition of a month, up to 1,000. The retention of the log does not reach them. */
export async function countUnpartitionedRuns(pool: Pool): Promise<number> {
  const text = 'SELECT count(*)::int AS count FROM (SELECT FROM run_partitions.runs_default LIMIT 1000) counted'
  return (await pool.query<{ count: number }>(text)).rows[0]?.count ?? 0
}

async function readMonths(pool: Pool, monthsAhead: number): Promise<Month[]> {
  const text = `
    SELECT name, uuid_v7_floor(starts AT TIME ZONE 'UTC') AS lower,
           uuid_v7_floor((starts + interval '1 month') AT TIME ZONE 'UTC') AS upper,
           to_regclass('run_partitions.' || name) IS NOT NULL AS "isThere"
    FROM (
      SELECT starts, 'runs_' || to_char(starts, 'YYYY_MM') AS name
      FROM generate_series(0, $1::int) i,
           LATERAL (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => i) AS starts) m
    ) months
    ORDER BY starts`
  return (await pool.query<Month>(text, [monthsAhead])).rows
}

async function makePartition(pool: Pool, { name, lower, upper }: Month): Promise<boolean> {
  try {
    const isMade = await inBriefTransaction(pool, async tx => {
      await tx.query(`CREATE TABLE run_partitions.${name} (LIKE runs INCLUDING ALL)`)
      await tx.query(
        `ALTER TABLE runs ATTACH PARTITION run_partitions.${name} FOR VALUES FROM ('${lower}') TO ('${upper}')`,
      )
      return true
    })
    return isMade === true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === checkViolation) return false
    if (code === duplicateTable) return true
    throw error
  }
}

// The default partition has runs of the month.
const checkViolation = '23514'
// Another caller has made it meanwhile.
const duplicateTable = '42P07'

/**
 * Drops the empty partitions of months that ended more than `days` ago. A partition with runs stays until `deleteOldRuns`
 * has deleted them, with their tasks and their storage. So does a partition that a long transaction reads.
 * @returns The names of the dropped partitions.
 */
export async function dropRunPartitions(pool: Pool, days: number): Promise<string[]> {
  const text = `
    SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'runs'::regclass AND relname ~ '^runs_\\d{4}_\\d{2}$'
      AND to_date(right(relname, 7), 'YYYY_MM') + interval '1 month' < (now() - $1 * interval '1 day') AT TIME ZONE 'UTC'
    ORDER BY relname`
  const { rows } = await pool.query<{ name: string }>(text, [days])
  const dropped: string[] = []
  for (const { name } of rows) if (await dropEmpty(pool, name)) dropped.push(name)
  return dropped
}

// An empty past month gets no more runs, because the id of a run is as old as its claim.
async function dropEmpty(pool: Pool, name: string): Promise<boolean> {
  if (!(await isEmpty(pool, name))) return false
  const isDropped = await inBriefTransaction(pool, async tx => {
    const exists = await tx.query(`SELECT FROM pg_class WHERE oid = to_regclass($1)`, [`run_partitions.${name}`])
    if (exists.rows.length === 0) return false
    await tx.query(`ALTER TABLE runs DETACH PARTITION run_partitions.${name}`)
    await tx.query(`DROP TABLE run_partitions.${name}`)
    return true
  })
  return isDropped === true
}

// Not in the transaction: it may take long after many runs were deleted.
async function isEmpty(pool: Pool, name: string): Promise<boolean> {
  try {
    const { rows } = await pool.query(`SELECT FROM run_partitions.${name} LIMIT 1`)
    return rows.length === 0
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === undefinedTable) return false
    throw error
  }
}

// Another caller has dropped it meanwhile.
const undefinedTable = '42P01'

/** How long each statement on the partitions of `runs` may block other transactions. */
const maxStallMs = 100

/**
 * Runs statements whose locks block other transactions. Returns null, with nothing changed, when a lock is not available
 * within 100 ms: a long transaction reads `runs`, or another caller is changing its partitions.
 */
async function inBriefTransaction<T>(pool: Pool, run: (tx: Transaction) => Promise<T>): Promise<T | null> {
  try {
    return await inTransaction(pool, async tx => {
      const lock = `SELECT pg_try_advisory_xact_lock(hashtext('create_run_partitions')) AS "isMine"`
      const { rows } = await tx.query<{ isMine: boolean }>(lock)
      if (!rows[0]?.isMine) return null
      await tx.query(`SET LOCAL lock_timeout = ${maxStallMs}; SET LOCAL statement_timeout = ${maxStallMs}`)
      return run(tx)
    })
  } catch (error) {
    if (isLockTimeout(error) || isStatementTimeout(error)) return null
    throw error
  }
}
