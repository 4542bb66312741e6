import { pauseCronJob } from '../cron-jobs/change-cron-job.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

/** A cron job or a subscription that has only failed for days. `isOff`: it was switched off now. Otherwise it is a warning. */
export type FailingEndpoint = {
  kind: 'cron' | 'sub'
  id: string
  /** The name of a cron job, the topic of a subscription. */
  name: string
  url: string
  workspaceId: string
  workspaceName: string
  organizationId: string
  failingSince: Date
  /** After how many days it is switched off. */
  days: number
  isOff: boolean
}

/**
 * Marks subscriptions that fail or have recovered. Then warns of each cron job and subscription that has only failed
 * for half of the days that its workspace allows, and switches it off after all of them. Both happen when it fails
 * again, so an endpoint that is not called stays on. The owners are warned almost half of these days before the
 * switch-off. The statements start from the tasks that died lately and the failing objects.
 * @param notify - Stores the messages about each, in the transaction that switches it off.
 * @returns How many there were.
 */
export async function switchOffFailing(
  pool: Pool,
  notify: (tx: Transaction, endpoint: FailingEndpoint) => Promise<void>,
): Promise<number> {
  return inTransaction(pool, async tx => {
    await tx.query({ name: 'mark_failing_subscriptions', text: markStatement })
    await tx.query({ name: 'mark_recovered_subscriptions', text: recoverStatement })
    const found: FailingEndpoint[] = []
    for (const query of judgeStatements) found.push(...(await tx.query<FailingEndpoint>(query)).rows)
    for (const endpoint of found) {
      if (endpoint.isOff && endpoint.kind === 'cron') await pauseCronJob(tx, endpoint.workspaceId, endpoint.id)
      await notify(tx, endpoint)
    }
    return found.length
  })
}

// Rounds overlap, and each statement changes an object once, so a round that fails is made up for by the next one.
const lately = `interval '5 minutes'`
// A run has the time of its start in its id, and takes 15 minutes at most.
const maxRun = `interval '20 minutes'`

// Ended by its last attempt: a task that was ended by a deadline, a user or a missed event does not show that the
// endpoint fails.
const diedLately = `t.state = 'dead' AND t.state_reason IS NULL AND t.finished_at > now() - ${lately}`

// A task names its subscription only while that fails. Before, a subscription is known by its topic and its URL.
const isOfSubscription = (topic: string) => `r.url = s.url AND coalesce(r.subscription_id = s.id, ${hasTopic(topic)})`

const hasTopic = (topic: string) =>
  `(s.topic IN ('*', ${topic}) OR s.topic LIKE '%.*' AND starts_with(${topic}, left(s.topic, -1)))`

const markStatement = `
  WITH died AS MATERIALIZED (
    SELECT s.id, max(t.finished_at) AS last_at
    FROM tasks t JOIN task_requests r ON r.task_id = t.id
    JOIN subscriptions s ON s.workspace_id = t.workspace_id AND ${isOfSubscription('r.topic')}
    WHERE ${diedLately} AND t.event_id IS NOT NULL AND s.active AND s.paused_reason IS NULL
    GROUP BY s.id
  )
  UPDATE subscriptions s SET failing_since = d.last_at FROM died d
  WHERE s.id = d.id AND s.failing_since IS NULL AND NOT EXISTS (
    SELECT FROM runs u JOIN task_requests r ON r.task_id = u.task_id
    WHERE u.workspace_id = s.workspace_id AND u.id >= uuid_v7_floor(d.last_at - ${maxRun}) AND u.topic IS NOT NULL
      AND u.status = 'success' AND u.finished_at >= d.last_at AND ${isOfSubscription('u.topic')}
  )`

// The success of another subscription with the URL, at a topic of both, also ends a mark that no named task has confirmed.
const recoverStatement = `
  UPDATE subscriptions s SET failing_since = NULL, failing_warned_at = NULL
  WHERE s.failing_since IS NOT NULL AND s.paused_reason IS NULL AND EXISTS (
    SELECT FROM subscriptions o JOIN task_requests r ON r.subscription_id = o.id JOIN tasks t ON t.id = r.task_id
    WHERE o.failing_since IS NOT NULL AND o.workspace_id = s.workspace_id AND o.url = s.url
      AND t.state = 'success' AND t.finished_at >= s.failing_since
      AND (o.id = s.id OR ${hasTopic('r.topic')} AND NOT EXISTS (
        SELECT FROM task_requests q JOIN tasks d ON d.id = q.task_id
        WHERE q.subscription_id = s.id AND d.state = 'dead' AND d.state_reason IS NULL AND d.finished_at >= s.failing_since
      ))
  )`

const deadEvents = `
    SELECT s.id, max(t.finished_at) AS last_at
    FROM tasks t JOIN task_requests r ON r.task_id = t.id JOIN subscriptions s ON s.id = r.subscription_id AND s.url = r.url
    WHERE ${diedLately} AND t.event_id IS NOT NULL GROUP BY s.id`

const deadOccurrences = `
    SELECT t.cron_job_id AS id, max(t.finished_at) AS last_at FROM tasks t
    WHERE ${diedLately} AND t.occurrence_at IS NOT NULL GROUP BY 1`

const judgeStatement = (kind: FailingEndpoint['kind'], table: string, name: string, died: string, isOn: string) => `
  WITH died AS MATERIALIZED (${died}),
  judged AS (
    SELECT s.id, w.id AS workspace_id, w.name AS workspace_name, w.organization_id, w.switch_off_days AS days,
           coalesce(d.last_at - s.failing_since >= w.switch_off_days * interval '1 day'
                    AND s.failing_warned_at < d.last_at - w.switch_off_days * interval '11 hours', false) AS is_off
    FROM died d JOIN ${table} s ON s.id = d.id JOIN workspaces w ON w.id = s.workspace_id
    WHERE w.switch_off_days > 0 AND ${isOn} AND s.paused_reason IS NULL
      AND d.last_at - s.failing_since >= w.switch_off_days * interval '12 hours'
  )
  UPDATE ${table} s
  SET failing_warned_at = coalesce(s.failing_warned_at, now()), paused_reason = CASE WHEN j.is_off THEN 'failing' END
  FROM judged j
  WHERE s.id = j.id AND ${isOn} AND s.paused_reason IS NULL AND (j.is_off OR s.failing_warned_at IS NULL)
  RETURNING '${kind}' AS kind, s.id, s.${name} AS name, s.url, j.workspace_id AS "workspaceId", j.workspace_name AS "workspaceName",
            j.organization_id AS "organizationId", s.failing_since AS "failingSince", j.days, j.is_off AS "isOff"`

const judgeStatements = [
  {
    name: 'judge_cron_jobs',
    text: judgeStatement(
      'cron',
      'cron_jobs',
      'name',
      deadOccurrences,
      's.paused_at IS NULL AND s.unreadable_since IS NULL',
    ),
  },
  { name: 'judge_subscriptions', text: judgeStatement('sub', 'subscriptions', 'topic', deadEvents, 's.active') },
]
