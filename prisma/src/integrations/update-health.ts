import type { Transaction } from '../postgres/in-transaction.ts'

/**
 * Marks the cron jobs and the hosts that have started to fail or have recovered.
 *
 * A cron job fails when an occurrence died by its last attempt and has not been followed by a success, or when no scheduler can
 * read its rule. The statements read the tasks that died in the window and the failing cron jobs, so deliveries have no extra
 * cost. A host of a workspace whose integrations ask for it fails when half of its attempts of the last five minutes failed. It
 * stays so while it is not called.
 * @returns The workspaces of those that changed.
 */
export async function updateHealth(tx: Transaction, since: string, until: string): Promise<string[]> {
  const failing = await tx.query<Changed>(
    `UPDATE cron_jobs c SET failing_since = d.first_at, health_changed_at = $2
     FROM (
       SELECT cron_job_id AS id, min(occurrence_at) AS first_at FROM tasks
       WHERE state = 'dead' AND state_reason IS NULL AND occurrence_at IS NOT NULL AND finished_at > $1 AND finished_at <= $2
       GROUP BY cron_job_id
     ) AS d
     WHERE c.id = d.id AND c.failing_since IS NULL AND ${latestState('true')} = 'dead'
     RETURNING workspace_id AS id`,
    [since, until],
  )
  const unreadable = await tx.query<Changed>(
    `UPDATE cron_jobs SET failing_since = next_run_at, health_changed_at = $1
     WHERE unreadable_since < clock_timestamp() - ${unreadableFor} AND next_run_at IS NOT NULL AND failing_since IS NULL
     RETURNING workspace_id AS id`,
    [until],
  )
  const recovered = await tx.query<Changed>(
    `UPDATE cron_jobs c SET failing_since = NULL, failing_warned_at = NULL, health_changed_at = $1
     WHERE c.failing_since IS NOT NULL AND c.unreadable_since IS NULL
       AND ${latestState('t.occurrence_at >= c.failing_since')} = 'success'
     RETURNING workspace_id AS id`,
    [until],
  )
  const hosts = await tx.query<Changed>({ name: 'update_host_health', text: hostsStatement, values: [until] })
  return [failing, unreadable, recovered, hosts].flatMap(({ rows }) => rows.map(({ id }) => id))
}

type Changed = { id: string }

// One scheduler may be unable to read a rule that the others read within seconds.
const unreadableFor = `interval '1 minute'`

// Of scheduled occurrences that ended by an attempt: a manual trigger, a stop or a deadline does not affect the health.
const latestState = (condition: string) => `(
  SELECT state FROM tasks t
  WHERE t.cron_job_id = c.id AND t.occurrence_at IS NOT NULL AND t.state <> 'cancelled' AND t.state IN ('success', 'dead')
    AND t.state_reason IS NULL AND ${condition}
  ORDER BY t.occurrence_at DESC LIMIT 1
)`

// Like the circuit breaker of a host, but needs fewer attempts.
const minAttempts = 5
const countedFor = `interval '5 minutes'`
const keptFor = `interval '1 day'`

const hostsStatement = `
  WITH asking AS (SELECT DISTINCT workspace_id AS id FROM integrations WHERE events && '{host.failing,host.recovered}'),
  forgotten AS (
    DELETE FROM failing_hosts
    WHERE failing_since IS NULL AND health_changed_at < now() - ${keptFor} OR workspace_id NOT IN (SELECT id FROM asking)
  ),
  counted AS (
    SELECT w.id AS workspace_id, s.host, sum(s.total) AS total, sum(s.failed) AS failed
    FROM asking w
    JOIN host_statistics s ON s.workspace_id = w.id AND s.period = 1 AND s.starts_at > now() - ${countedFor}
    GROUP BY 1, 2
  ),
  failing AS (
    INSERT INTO failing_hosts (workspace_id, host, failing_since, health_changed_at)
    SELECT workspace_id, host, $1::timestamptz, $1::timestamptz FROM counted WHERE total >= ${minAttempts} AND failed * 2 >= total ORDER BY 1, 2
    ON CONFLICT (workspace_id, host) DO UPDATE SET failing_since = excluded.failing_since, health_changed_at = excluded.health_changed_at
    WHERE failing_hosts.failing_since IS NULL
    RETURNING workspace_id
  ),
  recovered AS (
    UPDATE failing_hosts f SET failing_since = NULL, health_changed_at = $1::timestamptz FROM counted c
    WHERE c.workspace_id = f.workspace_id AND c.host = f.host AND f.failing_since IS NOT NULL AND c.total > 0 AND c.failed * 2 < c.total
    RETURNING f.workspace_id
  )
  SELECT workspace_id AS id FROM failing UNION SELECT workspace_id FROM recovered`
