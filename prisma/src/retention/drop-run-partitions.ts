import { codeOf, isStatementTimeout } from '../postgres/database-errors.ts'
import { inTransaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { inBriefTransaction } from './brief-transaction.ts'
import { partitionsOfRuns } from './month-parts.ts'

/** `parent`: `runs`, or the divided month that a day or a week belongs to. */
type Partition = { name: string; parent: string }

/** A partition with more runs stays until they are deleted. */
const maxMoved = 10_000

/**
 * Drops the partitions that ended more than `days` ago. A month with runs stays until `deleteOldRuns` has deleted them,
 * with their tasks and their storage. A day or a week of a divided month moves its last runs, the runs of dead letters,
 * to the rest of its month. A partition that a long transaction reads stays until a later call.
 * @param dividedDays - The same for the days and weeks of divided months. Default: `days`.
 * @returns The names of the dropped partitions.
 */
export async function dropRunPartitions(pool: Pool, days: number, dividedDays = days): Promise<string[]> {
  const detached = `SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'run_partitions'::regnamespace AND relname ~ '^runs_\\d{4}_\\d{2}_\\d{2}_detached$'`
  for (const { name } of (await pool.query<{ name: string }>(detached)).rows) await moveToRest(pool, name)
  const text = `
    SELECT name, parent FROM (${partitionsOfRuns}) p
    WHERE name ~ '^runs_\\d{4}_\\d{2}(_\\d{2})?$'
      AND upper < now() - CASE WHEN parent = 'runs' THEN $1::int ELSE $2::int END * interval '1 day'
    ORDER BY length(name) DESC, name`
  const { rows } = await pool.query<Partition>(text, [days, dividedDays])
  const dropped: string[] = []
  for (const partition of rows) if (await dropPartition(pool, partition)) dropped.push(partition.name)
  return dropped
}

// An empty past partition stays empty, because the id of a run is as old as its claim.
async function dropPartition(pool: Pool, partition: Partition): Promise<boolean> {
  const runs = await countRuns(pool, partition.name)
  if (runs === 0) return dropEmpty(pool, partition)
  if (runs === null || runs > maxMoved || partition.parent === 'runs') return false
  const isDetached = await inBriefTransaction(pool, async tx => {
    const text = 'SELECT to_regclass($1) IS NOT NULL AS "isThere"'
    const { rows } = await tx.query<{ isThere: boolean }>(text, [`run_partitions.${partition.name}`])
    if (rows[0]?.isThere !== true) return false // another caller has moved its runs, or is doing so
    await tx.query(`ALTER TABLE run_partitions.${partition.parent} DETACH PARTITION run_partitions.${partition.name}`)
    await tx.query(`ALTER TABLE run_partitions.${partition.name} RENAME TO ${partition.name}_detached`)
    return true
  })
  if (!isDetached) return false
  await moveToRest(pool, `${partition.name}_detached`)
  return true
}

function dropEmpty(pool: Pool, { name, parent }: Partition): Promise<boolean> {
  const parentName = parent === 'runs' ? parent : `run_partitions.${parent}`
  return inBriefTransaction(pool, async tx => {
    const text = `SELECT bool_or(oid = to_regclass($1)) AND count(*) = 1 AS "isDroppable" FROM pg_class
      WHERE oid = to_regclass($1) OR relnamespace = 'run_partitions'::regnamespace AND relname ~ $2`
    const values = [`run_partitions.${name}`, `^${name}_(\\d{2}_)?detached$`]
    const { rows } = await tx.query<{ isDroppable: boolean | null }>(text, values)
    if (rows[0]?.isDroppable !== true) return false // another caller has dropped it, or moves runs to its rest
    await tx.query(`ALTER TABLE ${parentName} DETACH PARTITION run_partitions.${name}`)
    await tx.query(`DROP TABLE run_partitions.${name}`)
    return true
  })
}

/**
 * Moves the runs of a detached partition to the rest of its month. This is a separate transaction, because detaching
 * blocks others. Until it commits, the runs of these dead letters are not found.
 */
async function moveToRest(pool: Pool, detached: string): Promise<void> {
  const month = detached.slice(0, 'runs_2026_12'.length)
  try {
    await inTransaction(pool, async tx => {
      await tx.query(`LOCK TABLE run_partitions.${detached} IN ACCESS EXCLUSIVE MODE`)
      const { rows } = await tx.query<{ columns: string }>(
        `SELECT string_agg(quote_ident(attname), ', ') AS columns FROM pg_attribute
         WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
        [`run_partitions.${detached}`],
      )
      const columns = rows[0]?.columns
      await tx.query(
        `INSERT INTO run_partitions.${month} (${columns}) SELECT ${columns} FROM run_partitions.${detached}`,
      )
      await tx.query(`DROP TABLE run_partitions.${detached}`)
    })
  } catch (error) {
    if (codeOf(error) !== undefinedTable) throw error
  }
}

// Another caller has moved or dropped it meanwhile.
const undefinedTable = '42P01'

// Up to one more than can be moved. Null when it takes too long, because many runs were deleted since the last vacuum.
async function countRuns(pool: Pool, name: string): Promise<number | null> {
  const text = `SELECT count(*)::int AS n FROM (SELECT FROM run_partitions.${name} LIMIT ${maxMoved + 1}) counted`
  try {
    return (await pool.query<{ n: number }>(text)).rows[0]?.n ?? null
  } catch (error) {
    if (isStatementTimeout(error) || codeOf(error) === undefinedTable) return null
    throw error
  }
}
