import { type Tiers, tierNames } from '@belfry/domain/tiers'
import type { Pool } from '../postgres/pool.ts'

/** The length of the partitions that a month of runs has. */
export type PartDays = 1 | 7 | 'month'

const busyDay = 1_000_000
// Listing runs plans over all partitions, at 0.2 ms each, and locks each with its indexes.
const maxDailyPartitions = 60

/**
 * Returns how long the partitions of a coming month are. A small log has one for each month. A large one has one for each day,
 * or for each week where the log is kept for more than two months.
 */
export function partDaysOf({ runsPerDay, keptDays }: { runsPerDay: number; keptDays: number }): PartDays {
  if (runsPerDay < busyDay) return 'month'
  return keptDays <= maxDailyPartitions ? 1 : 7
}

/** Returns for how many days the organizations that exist keep their log at most. */
export async function keptLogDays(pool: Pool, tiers: Tiers): Promise<number> {
  const { rows } = await pool.query<{ tier: string }>('SELECT DISTINCT tier FROM organizations')
  const used = tierNames.filter(name => rows.some(({ tier }) => tier === name))
  return Math.max(...(used.length > 0 ? used : tierNames).map(name => tiers[name].logDays))
}

/**
 * Estimates how many runs a day has, from the statistics of the partitions of this month and the one before. Retention deletes
 * old runs, so the busiest partition counts.
 */
export async function estimateRunsPerDay(pool: Pool): Promise<number> {
  const text = `
    SELECT coalesce(max(tuples / greatest(1, extract(epoch FROM least(now(), upper) - lower) / 86400)), 0)::float8 AS runs
    FROM (${partitionsOfRuns}) p
    WHERE is_leaf AND lower < now() AND upper > now() - interval '1 month'`
  return (await pool.query<{ runs: number }>(text)).rows[0]?.runs ?? 0
}

/**
 * SQL: the partitions of `runs` on every level that have bounds, with the times of these. The partitions of a divided month
 * are below it.
 */
export const partitionsOfRuns = `
  SELECT c.relname AS name, t.isleaf AS is_leaf, c.reltuples AS tuples, parent.relname AS parent,
         uuid_v7_time(bounds[1]::uuid) AS lower, uuid_v7_time(bounds[2]::uuid) AS upper
  FROM pg_partition_tree('runs') t
  JOIN pg_class c ON c.oid = t.relid
  JOIN pg_class parent ON parent.oid = t.parentrelid
  CROSS JOIN LATERAL regexp_match(
    pg_get_expr(c.relpartbound, c.oid), $bounds$^FOR VALUES FROM \\('(.+)'\\) TO \\('(.+)'\\)$bounds$
  ) AS bounds
  WHERE bounds IS NOT NULL`
