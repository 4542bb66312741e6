import type { Transaction } from '../postgres/in-transaction.ts'

// One scheduler may be unable to read a rule that the others read within seconds.
const unreadableFor = `interval '1 minute'`

/**
 * Marks cron jobs that have started to fail or have recovered. A cron job fails when an occurrence died by its last
 * attempt and has not been followed by a success, or when no scheduler can read its rule. The statements read the tasks
 * that died in the window and the failing cron jobs, so deliveries have no extra cost.
 * @returns The workspaces of the cron jobs that changed.
 */
export async function updateCronJobHealth(tx: Transaction, { since, until }: { since: string; until: string }) {
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
  return [failing, unreadable, recovered].flatMap(({ rows }) => rows.map(({ id }) => id))
}

type Changed = { id: string }

// Of scheduled occurrences that ended by an attempt: a manual trigger, a stop or a deadline does not affect the health.
const latestState = (condition: string) => `(
  SELECT state FROM tasks t
  WHERE t.cron_job_id = c.id AND t.occurrence_at IS NOT NULL AND t.state <> 'cancelled' AND t.state IN ('success', 'dead')
    AND t.state_reason IS NULL AND ${condition}
  ORDER BY t.occurrence_at DESC LIMIT 1
)`
