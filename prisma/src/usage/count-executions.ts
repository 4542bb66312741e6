import { type Tiers, tierNames } from '@belfry/domain'

/** What the claim has to know of the tiers, as rows of a statement whose next parameter has this number. */
export function tierRows(tiers: Tiers, next: number): { text: string; params: unknown[] } {
  return {
    text: `unnest($${next}::text[], $${next + 1}::bigint[], $${next + 2}::bigint[])`,
    params: [tierNames, tierNames.map(name => tiers[name].executions), tierNames.map(name => tiers[name].storageBytes)],
  }
}

/**
 * The part of the claim that counts executions. It reads `ready`, whose rows the statement has locked, and gives
 * `refused`: those among them that are to be cancelled, and why. Nothing of a deleted workspace starts, whatever of its
 * tasks has not been cancelled yet.
 *
 * The rows of `usage` are locked in order of organization, after the tasks, which are never waited for; so two batches
 * that span the same organizations cannot wait for each other. Whoever had to wait goes on from the latest count: an
 * INSERT that finds its row taken reads it anew, whatever the statement saw when it began. A task of a workspace that is
 * gone is nobody's, and is not counted.
 * @param tiers - The text of `tierRows`.
 */
export function countedExecutions(tiers: string): string {
  return `
    starting AS (
      SELECT n.workspace_id, n.tasks, w.organization_id, w.deleted_at IS NOT NULL AS is_deleted,
             l.executions AS execution_limit, coalesce(s.bytes > l.storage_bytes, false) AS is_full
      FROM (
        SELECT workspace_id, count(*) FILTER (WHERE is_first AND own_refusal IS NULL) AS tasks
        FROM ready GROUP BY workspace_id
      ) n
      JOIN workspaces w ON w.id = n.workspace_id JOIN organizations o ON o.id = w.organization_id
      JOIN ${tiers} AS l (tier, executions, storage_bytes) ON l.tier = o.tier
      LEFT JOIN storage s ON s.organization_id = o.id
    ),
    counted AS (
      INSERT INTO usage AS u (month, organization_id, executions, wanted, granted, execution_limit)
      SELECT utc_month(now()), organization_id, least(sum(tasks), execution_limit), sum(tasks),
             least(sum(tasks), execution_limit), execution_limit
      FROM starting WHERE tasks > 0 AND NOT is_full AND NOT is_deleted
      GROUP BY organization_id, execution_limit ORDER BY organization_id
      ON CONFLICT (month, organization_id) DO UPDATE SET
        executions = u.executions + greatest(0, least(excluded.wanted, excluded.execution_limit - u.executions)),
        wanted = excluded.wanted,
        granted = greatest(0, least(excluded.wanted, excluded.execution_limit - u.executions)),
        execution_limit = excluded.execution_limit
      RETURNING organization_id, wanted, granted
    ),
    short AS (
      SELECT s.workspace_id, s.organization_id, s.is_deleted, s.is_full, c.granted
      FROM starting s LEFT JOIN counted c USING (organization_id)
      WHERE s.is_deleted OR s.is_full OR c.granted < c.wanted
    ),
    -- Nearly always empty. Lateral, so that nothing is looked at then; materialized, so that it is worked out once.
    refused AS MATERIALIZED (
      SELECT id, CASE WHEN is_deleted THEN 'workspace_deleted' WHEN is_full THEN 'storage_quota'
                      ELSE 'monthly_execution_limit' END AS reason
      FROM (
        SELECT r.id, s.is_deleted, s.is_full, s.granted,
               row_number() OVER (PARTITION BY s.organization_id, s.is_deleted ORDER BY r.scheduled_at, r.id) AS place
        FROM short s CROSS JOIN LATERAL (
          SELECT id, scheduled_at FROM ready
          WHERE workspace_id = s.workspace_id AND (s.is_deleted OR is_first AND own_refusal IS NULL) OFFSET 0
        ) r
      ) candidates
      WHERE is_deleted OR is_full OR place > granted
    )`
}
