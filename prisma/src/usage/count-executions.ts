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
 * `refused`: those among them that are to be cancelled, and why.
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
      SELECT n.workspace_id, n.tasks, w.organization_id, l.executions AS execution_limit,
             coalesce(s.bytes > l.storage_bytes, false) AS is_full
      FROM (
        SELECT workspace_id, count(*) AS tasks FROM ready WHERE is_first AND own_refusal IS NULL GROUP BY workspace_id
      ) n
      JOIN workspaces w ON w.id = n.workspace_id JOIN organizations o ON o.id = w.organization_id
      JOIN ${tiers} AS l (tier, executions, storage_bytes) ON l.tier = o.tier
      LEFT JOIN storage s ON s.organization_id = o.id
    ),
    counted AS (
      INSERT INTO usage AS u (month, organization_id, executions, wanted, granted, execution_limit)
      SELECT utc_month(now()), organization_id, least(sum(tasks), execution_limit), sum(tasks),
             least(sum(tasks), execution_limit), execution_limit
      FROM starting WHERE NOT is_full GROUP BY organization_id, execution_limit ORDER BY organization_id
      ON CONFLICT (month, organization_id) DO UPDATE SET
        executions = u.executions + greatest(0, least(excluded.wanted, excluded.execution_limit - u.executions)),
        wanted = excluded.wanted,
        granted = greatest(0, least(excluded.wanted, excluded.execution_limit - u.executions)),
        execution_limit = excluded.execution_limit
      RETURNING organization_id, wanted, granted
    ),
    -- Nearly always empty, so what follows from it costs nothing.
    short AS (
      SELECT organization_id, granted FROM counted WHERE granted < wanted
      UNION ALL SELECT DISTINCT organization_id, NULL::integer FROM starting WHERE is_full
    ),
    refused AS (
      SELECT id, CASE WHEN granted IS NULL THEN 'storage_quota' ELSE 'monthly_execution_limit' END AS reason
      FROM (
        SELECT ready.id, short.granted,
               row_number() OVER (PARTITION BY short.organization_id ORDER BY ready.scheduled_at, ready.id) AS place
        FROM short JOIN starting USING (organization_id) JOIN ready USING (workspace_id)
        WHERE ready.is_first AND ready.own_refusal IS NULL
      ) first_attempts
      WHERE granted IS NULL OR place > granted
    )`
}
