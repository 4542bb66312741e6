import { codeOf } from '../postgres/database-errors.ts'
import type { Pool } from '../postgres/pool.ts'
import { inBriefTransaction } from './brief-transaction.ts'

/** A month as a partition of `runs`: its name, and the bounds of its ids. */
export type RunMonth = { name: string; lower: string; upper: string; isThere: boolean }

/**
 * Makes the partitions of this month and of `monthsAhead` months after it, without blocking other statements. Any number of
 * callers may run at once. The lock for attaching a partition does not block inserts into other partitions. It needs the
 * default partition exclusively, so while a transaction reads that one, the month waits for the next call.
 */
export async function prepareRunPartitions(pool: Pool, monthsAhead: number) {
  const made: string[] = []
  /** Not made, because a transaction reads `runs` or the default partition has runs of that month. */
  const missing: string[] = []
  for (const month of await readMonths(pool, monthsAhead)) {
    if (month.isThere) continue
    const names = (await makePartition(pool, month)) ? made : missing
    names.push(month.name)
  }
  return { made, missing }
}

/** Returns how many months after this one have a partition, without a gap; -1 when this month lacks a partition. */
export async function countPreparedMonths(pool: Pool): Promise<number> {
  const months = await readMonths(pool, 12)
  const firstGap = months.findIndex(({ isThere }) => !isThere)
  return (firstGap === -1 ? months.length : firstGap) - 1
}

/** Counts the runs outside the partitions of the months, up to 1,000. The retention of the log does not reach them. */
export async function countUnpartitionedRuns(pool: Pool): Promise<number> {
  const text = 'SELECT count(*)::int AS count FROM (SELECT FROM run_partitions.runs_default LIMIT 1000) counted'
  return (await pool.query<{ count: number }>(text)).rows[0]?.count ?? 0
}

export async function readMonths(pool: Pool, monthsAhead: number): Promise<RunMonth[]> {
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
  return (await pool.query<RunMonth>(text, [monthsAhead])).rows
}

async function makePartition(pool: Pool, { name, lower, upper }: RunMonth): Promise<boolean> {
  try {
    return await inBriefTransaction(pool, async tx => {
      await tx.query(`CREATE TABLE run_partitions.${name} (LIKE runs INCLUDING ALL)`)
      await tx.query(
        `ALTER TABLE runs ATTACH PARTITION run_partitions.${name} FOR VALUES FROM ('${lower}') TO ('${upper}')`,
      )
      return true
    })
  } catch (error) {
    const code = codeOf(error)
    if (code === checkViolation) return false
    if (code === duplicateTable) return true
    throw error
  }
}

// The default partition has runs of the month.
const checkViolation = '23514'
// Another caller has made it meanwhile.
const duplicateTable = '42P07'
