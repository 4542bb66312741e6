import type { TierName } from '@belfry/domain/tiers'
import type { Db } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { usedExecutions } from './execution-blocks.ts'

/** The usage of an organization: executions of this month, and the current storage and workspaces. */
export type Usage = { tier: TierName; executions: number; storageBytes: number; workspaces: number; now: Date }

/** Null when the organization does not exist. */
export async function readUsage(db: Db, organizationId: string): Promise<Usage | null> {
  const text = `
    SELECT o.tier, greatest(0, ${usedExecutions})::float8 AS executions, greatest(0, s.bytes)::float8 AS "storageBytes",
           (SELECT count(*)::int FROM workspaces w WHERE w.organization_id = o.id AND w.deleted_at IS NULL)
             AS workspaces, now() AS now
    FROM organizations o
    LEFT JOIN usage u ON u.organization_id = o.id AND u.month = utc_month(now())
    LEFT JOIN storage s ON s.organization_id = o.id
    WHERE o.id = $1`
  const { rows } = await db.query<Usage>({ name: 'read_usage', text, values: [organizationId] })
  return rows[0] ?? null
}

/** Reads how many tasks have started and died on each day of this month in UTC, including days without any. */
export async function readDailyUsage(pool: Pool, organizationId: string) {
  const text = `
    SELECT at::date::text AS date, greatest(0, u.executions)::float8 AS executions, coalesce(u.failed, 0)::float8 AS failed
    FROM generate_series(utc_month(now())::timestamp, now() AT TIME ZONE 'UTC', interval '1 day') AS at
    LEFT JOIN usage_days u ON u.organization_id = $1 AND u.day = at::date
    ORDER BY at`
  const query = { name: 'read_daily_usage', text, values: [organizationId] }
  return (await pool.query<{ date: string; executions: number; failed: number }>(query)).rows
}

const counted = {
  pendingTasks: `tasks WHERE workspace_id = $1 AND state = 'pending'`,
  cronJobs: 'cron_jobs WHERE workspace_id = $1',
}

export type CountedInWorkspace = keyof typeof counted

/** Counts things of a workspace, up to `max`. It reads that many entries of an index. */
export async function countInWorkspace(db: Db, kind: CountedInWorkspace, workspaceId: string, max: number) {
  const text = `SELECT count(*)::int AS n FROM (SELECT FROM ${counted[kind]} LIMIT $2) counted`
  const { rows } = await db.query<{ n: number }>({ name: `count_${kind}`, text, values: [workspaceId, max] })
  return rows[0]?.n ?? 0
}
