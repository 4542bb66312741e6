import type { Transaction } from '../in-transaction.ts'

/**
 * Finds the cron jobs that have begun to fail, because an occurrence died and none has succeeded since, and those that
 * have recovered. Looks at what died in the window, and at what is failing: a delivery costs nothing more.
 */
export async function noticeCronJobs(tx: Transaction, { since, until }: { since: string; until: string }) {
  await tx.query(
    `UPDATE cron_jobs c SET failing_since = d.first_at, health_changed_at = $2
     FROM (
       SELECT cron_job_id AS id, min(occurrence_at) AS first_at FROM tasks
       WHERE state = 'dead' AND occurrence_at IS NOT NULL AND finished_at > $1 AND finished_at <= $2
       GROUP BY cron_job_id
     ) AS d
     WHERE c.id = d.id AND c.failing_since IS NULL AND ${latestState} = 'dead'`,
    [since, until],
  )
  await tx.query(
    `UPDATE cron_jobs c SET failing_since = NULL, health_changed_at = $1
     WHERE c.failing_since IS NOT NULL AND ${latestState} = 'success'`,
    [until],
  )
}

// Of the occurrences of the schedule: what somebody triggers by hand says nothing about it.
const latestState = `(
  SELECT state FROM tasks t
  WHERE t.cron_job_id = c.id AND t.occurrence_at IS NOT NULL AND t.state <> 'cancelled' AND t.state IN ('success', 'dead')
  ORDER BY t.occurrence_at DESC LIMIT 1
)`
