import type { TierName } from '@belfry/domain/tiers'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { usedExecutions } from './execution-blocks.ts'

/** The usage of an organization in a past month. Its storage is the current one. */
export type UsageReport = {
  organizationId: string
  /** The first day of the month. */
  month: string
  tier: TierName
  executions: number
  failed: number
  storageBytes: number
}

// Reports are sent in the first days of a month only, so the first version that reports does not send old ones.
const reportDays = 7

/**
 * Calls `report` with the usage of last month, and marks these organizations as reported in the same transaction. Skips
 * organizations without executions and storage.
 * @returns How many organizations were reported, at most `limit`.
 */
export async function reportUsage(
  pool: Pool,
  now: Date,
  limit: number,
  report: (tx: Transaction, reports: UsageReport[]) => Promise<void>,
): Promise<number> {
  return inTransaction(pool, async tx => {
    const text = `
      WITH last AS (SELECT (utc_month($2) - interval '1 month')::date AS month),
      used AS (
        SELECT o.id, o.tier, last.month, greatest(0, coalesce(${usedExecutions}, 0))::float8 AS executions,
               greatest(0, coalesce(s.bytes, 0))::float8 AS bytes
        FROM last CROSS JOIN organizations o
        LEFT JOIN usage u ON u.organization_id = o.id AND u.month = last.month
        LEFT JOIN storage s ON s.organization_id = o.id
        WHERE o.deleted_at IS NULL AND o.created_at AT TIME ZONE 'UTC' < utc_month($2)
          AND $2::timestamptz AT TIME ZONE 'UTC' < utc_month($2) + ${reportDays}
          AND NOT EXISTS (
            SELECT FROM usage_reports r WHERE r.organization_id = o.id AND r.month = last.month
          )
          AND (u.executions > 0 OR s.bytes > 0)
        ORDER BY o.id LIMIT $1
      ),
      marked AS (
        INSERT INTO usage_reports (organization_id, month) SELECT id, month FROM used
        ON CONFLICT DO NOTHING RETURNING organization_id
      )
      SELECT id AS "organizationId", month::text, tier, executions, bytes AS "storageBytes",
        (SELECT coalesce(sum(d.failed), 0)::float8 FROM usage_days d
         WHERE d.organization_id = id AND d.day >= month AND d.day < month + interval '1 month') AS failed
      FROM used WHERE id IN (SELECT organization_id FROM marked)`
    const { rows } = await tx.query<UsageReport>(text, [limit, now])
    if (rows.length > 0) await report(tx, rows)
    return rows.length
  })
}
