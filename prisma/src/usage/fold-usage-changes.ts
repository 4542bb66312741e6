import type { Pool } from '../postgres/pool.ts'

/**
 * Adds usage deltas, the rows of `usage_changes`, to the sums of their organizations, and removes them. Any number of
 * schedulers may call this at once: each delta counts exactly once. Deltas of a purged workspace are dropped.
 * @returns How many deltas were folded, at most `limit`.
 */
export async function foldUsageChanges(pool: Pool, limit: number): Promise<number> {
  const { rows } = await pool.query<{ folded: number }>({
    name: 'fold_usage_changes',
    text: statement,
    values: [limit],
  })
  return rows[0]?.folded ?? 0
}

export const usageChanges = 'SELECT ctid FROM usage_changes'

// Writes in the order of the organizations, so concurrent statements cannot deadlock.
const statement = `
  WITH taken AS (
    DELETE FROM usage_changes
    WHERE ctid = ANY (ARRAY(${usageChanges} LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING workspace_id, (changed_at AT TIME ZONE 'UTC')::date AS day, storage_bytes, executions, failed
  ),
  summed AS (
    SELECT w.organization_id, day, sum(bytes) AS bytes, sum(executions) AS executions, sum(failed) AS failed
    FROM (
      SELECT workspace_id, day, sum(storage_bytes) AS bytes, sum(executions) AS executions, sum(failed) AS failed
      FROM taken GROUP BY workspace_id, day
    ) changed
    JOIN workspaces w ON w.id = changed.workspace_id GROUP BY w.organization_id, day
  ),
  stored AS (
    INSERT INTO storage (organization_id, bytes)
    SELECT organization_id, sum(bytes) FROM summed GROUP BY organization_id HAVING sum(bytes) <> 0 ORDER BY organization_id
    ON CONFLICT (organization_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes
  ),
  dated AS (
    INSERT INTO usage_days (organization_id, day, executions, failed)
    SELECT organization_id, day, executions, failed FROM summed
    WHERE executions <> 0 OR failed <> 0 ORDER BY organization_id, day
    ON CONFLICT (organization_id, day) DO UPDATE SET
      executions = usage_days.executions + excluded.executions, failed = usage_days.failed + excluded.failed
  )
  SELECT count(*)::int AS folded FROM taken`
