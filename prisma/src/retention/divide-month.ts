import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { inBriefTransaction, lockPartitions } from './brief-transaction.ts'
import { estimateRunsPerDay, partDaysOf } from './month-parts.ts'
import { type RunMonth, readMonths } from './run-partitions.ts'

/**
 * Divides the partition of the next month into days or weeks when the log has become large. The months before stay as they
 * are. Any number of callers may run at once.
 * @param keptDays - For how many days the log is kept at most.
 * @returns The name of the month; null when there was nothing to divide, or a transaction reads `runs`.
 */
export async function divideNextMonth(pool: Pool, keptDays: number): Promise<string | null> {
  const next = (await readMonths(pool, 1)).at(1)
  if (!next?.isThere || (await isDivided(pool, next))) return null
  const days = partDaysOf({ runsPerDay: await estimateRunsPerDay(pool), keptDays })
  return days !== 'month' && (await divideMonth(pool, next, days)) ? next.name : null
}

/**
 * Replaces the partition of a month by a partitioned table, if it is empty. The table is built first, without blocking
 * other statements. After an interruption the next call continues with that table.
 */
export async function divideMonth(pool: Pool, month: RunMonth, days: 1 | 7): Promise<boolean> {
  const isBuilt = await inTransaction(pool, async tx => (await lockPartitions(tx)) && (await build(tx, month, days)))
  return isBuilt && inBriefTransaction(pool, tx => replace(tx, month))
}

const builtName = (month: RunMonth) => `run_partitions.${month.name}_divided`

async function isDivided(pool: Pool | Transaction, { name }: RunMonth): Promise<boolean> {
  const text = `SELECT FROM pg_class WHERE oid = to_regclass($1) AND relkind = 'p'`
  return (await pool.query(text, [`run_partitions.${name}`])).rowCount === 1
}

// Returns true when the new partition is there, also from an earlier call.
async function build(tx: Transaction, month: RunMonth, days: number): Promise<boolean> {
  if (await isDivided(tx, month)) return false
  const built = builtName(month)
  if ((await tx.query('SELECT FROM pg_class WHERE oid = to_regclass($1)', [built])).rowCount === 1) return true
  await tx.query(`CREATE TABLE ${built} (LIKE runs INCLUDING ALL) PARTITION BY RANGE (id)`)
  const { rows } = await tx.query<RunMonth>(
    `SELECT $1 || to_char(starts, '_DD') AS name, uuid_v7_floor(starts AT TIME ZONE 'UTC') AS lower,
            least(uuid_v7_floor((starts + $4 * interval '1 day') AT TIME ZONE 'UTC'), $3::uuid) AS upper
     FROM generate_series(uuid_v7_time($2::uuid) AT TIME ZONE 'UTC', uuid_v7_time($3::uuid) AT TIME ZONE 'UTC'
                          - interval '1 day', $4 * interval '1 day') AS starts`,
    [month.name, month.lower, month.upper, days],
  )
  for (const { name, lower, upper } of rows) {
    await tx.query(
      `CREATE TABLE run_partitions.${name} PARTITION OF ${built} FOR VALUES FROM ('${lower}') TO ('${upper}')`,
    )
  }
  // For the dead letters of the days that are dropped.
  await tx.query(`CREATE TABLE run_partitions.${month.name}_rest PARTITION OF ${built} DEFAULT`)
  return true
}

async function replace(tx: Transaction, month: RunMonth): Promise<boolean> {
  const [old, built] = [`run_partitions.${month.name}`, builtName(month)]
  await tx.query('LOCK TABLE ONLY runs IN ACCESS EXCLUSIVE MODE')
  if (await isDivided(tx, month)) return false // by another caller, meanwhile
  if ((await tx.query(`SELECT FROM ${old} LIMIT 1`)).rows.length > 0) return false
  await tx.query(`ALTER TABLE runs DETACH PARTITION ${old}`)
  await tx.query(`DROP TABLE ${old}`)
  await tx.query(`ALTER TABLE runs ATTACH PARTITION ${built} FOR VALUES FROM ('${month.lower}') TO ('${month.upper}')`)
  await tx.query(`ALTER TABLE ${built} RENAME TO ${month.name}`)
  return true
}
