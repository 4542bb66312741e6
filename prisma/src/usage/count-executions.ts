import { type Tiers, tierNames } from '@belfry/domain/tiers'

/** Returns the limits of the tiers as rows of a statement, and their parameters, the first of which is `$next`. */
export function tierRows(tiers: Tiers, next: number): { text: string; params: unknown[] } {
  return {
    text: `unnest($${next}::text[], $${next + 1}::bigint[], $${next + 2}::bigint[])`,
    params: [tierNames, tierNames.map(name => tiers[name].executions), tierNames.map(name => tiers[name].storageBytes)],
  }
}

/** SQL of the claim: the rows of `tierRows`, and the parameters for the dispatcher and for "after a top-up". */
type ClaimTexts = { tiers: string; dispatcher: string; isToppedUp: string }

/**
 * Returns the CTEs of the claim that decide which first attempts may start. They read `ready`, whose rows the statement
 * has locked, and define `refused`: the tasks that do not start, and why. The reason `short` means that the
 * dispatcher's block of executions does not cover the task. After a top-up it means that the organization has used up
 * its executions, so the task is cancelled. A deleted workspace or a full storage refuses a task in both cases.
 *
 * The statement locks only blocks of the claiming dispatcher, without waiting: a block that another transaction holds
 * counts as empty. So does a block that was granted under another limit, because the tier has changed. A task whose
 * workspace no longer exists is not counted.
 */
export function coveredExecutions({ tiers, dispatcher, isToppedUp }: ClaimTexts): string {
  return `
    starting AS (
      SELECT n.workspace_id, w.organization_id, w.deleted_at IS NOT NULL AS is_deleted,
             l.executions AS execution_limit, coalesce(s.bytes > l.storage_bytes, false) AS is_full,
             sum(n.tasks) FILTER (WHERE w.deleted_at IS NULL) OVER (PARTITION BY w.organization_id) AS wanted
      FROM (
        SELECT workspace_id, (count(*) FILTER (WHERE is_first AND own_refusal IS NULL))::int AS tasks
        FROM ready GROUP BY workspace_id
      ) n
      JOIN workspaces w ON w.id = n.workspace_id JOIN organizations o ON o.id = w.organization_id
      JOIN ${tiers} AS l (tier, executions, storage_bytes) ON l.tier = o.tier
      LEFT JOIN storage s ON s.organization_id = o.id
    ),
    short AS (
      SELECT s.workspace_id, s.organization_id, s.is_deleted, s.is_full, b.unspent
      FROM starting s LEFT JOIN LATERAL (
        SELECT unspent FROM execution_blocks
        WHERE month = utc_month(now()) AND organization_id = s.organization_id AND dispatcher_id = ${dispatcher}
          AND execution_limit = s.execution_limit AND s.wanted > 0
        FOR UPDATE SKIP LOCKED
      ) b ON true
      WHERE s.is_deleted OR s.is_full OR coalesce(b.unspent, 0) < s.wanted
    ),
    -- Nearly always empty. LATERAL reads nothing in that case; MATERIALIZED evaluates it once.
    refused AS MATERIALIZED (
      SELECT id, organization_id,
             CASE WHEN is_deleted THEN 'workspace_deleted' WHEN is_full THEN 'storage_quota'
                  WHEN ${isToppedUp} AND unspent IS NOT NULL THEN 'monthly_execution_limit' ELSE 'short' END AS reason
      FROM (
        SELECT r.id, s.organization_id, s.is_deleted, s.is_full, s.unspent,
               row_number() OVER (PARTITION BY s.organization_id, s.is_deleted ORDER BY r.scheduled_at, r.id) AS place
        FROM short s CROSS JOIN LATERAL (
          SELECT id, scheduled_at FROM ready
          WHERE workspace_id = s.workspace_id AND (s.is_deleted OR is_first AND own_refusal IS NULL) OFFSET 0
        ) r
      ) candidates
      WHERE is_deleted OR is_full OR place > coalesce(unspent, 0)
    )`
}

/**
 * Returns the CTEs of the claim that count the executions it has started. They read `claimed`, so a task that was ready
 * but could not be claimed is not counted.
 */
export function spentExecutions(dispatcher: string): string {
  return `
    started AS (
      SELECT workspace_id, count(*)::int AS tasks FROM claimed WHERE is_first AND state = 'processing' GROUP BY workspace_id
    ),
    changed AS (INSERT INTO usage_changes (workspace_id, executions) SELECT workspace_id, tasks FROM started),
    spent AS (
      UPDATE execution_blocks b SET unspent = b.unspent - n.tasks
      FROM (
        SELECT w.organization_id, sum(tasks) AS tasks FROM started JOIN workspaces w ON w.id = workspace_id
        GROUP BY w.organization_id
      ) n
      WHERE b.month = utc_month(now()) AND b.organization_id = n.organization_id AND b.dispatcher_id = ${dispatcher}
    )`
}

/**
 * The CTEs that refund the executions of the claims in `undone`, each to the block of its dispatcher in the month of its claim,
 * and on the day of its claim.
 */
export const refundedExecutions = `
  unstarted AS (SELECT workspace_id, run_id, dispatcher_id FROM undone WHERE attempts = 0),
  refunded AS (
    INSERT INTO execution_blocks AS b (month, organization_id, dispatcher_id, unspent)
    SELECT utc_month(uuid_v7_time(run_id)), w.organization_id, dispatcher_id, count(*)
    FROM unstarted JOIN workspaces w ON w.id = workspace_id GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (month, organization_id, dispatcher_id) DO UPDATE SET unspent = b.unspent + excluded.unspent
  ),
  uncounted AS (
    INSERT INTO usage_changes (workspace_id, executions, changed_at)
    SELECT workspace_id, -count(*), min(uuid_v7_time(run_id))
    FROM unstarted GROUP BY workspace_id, (uuid_v7_time(run_id) AT TIME ZONE 'UTC')::date
  )`
