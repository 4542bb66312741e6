import type { AlertChannel, AlertEvent } from '@belfry/domain'
import { inTransaction, type Transaction } from '../in-transaction.ts'
import type { Pool } from '../pool.ts'
import { noticeCronJobs } from './notice-cron-jobs.ts'

/** Tasks or cron jobs that something has happened to: how many, and the first few. */
export type Happened = { count: number; items: Array<{ id: string; name: string }> }

/** What an integration has not been told yet. */
export type IntegrationNews = {
  id: string
  workspaceId: string
  workspaceName: string
  channel: AlertChannel
  /** When it was found. */
  at: Date
  /** How long it was quiet after the last time, and how long ago that was. */
  pauseMs: number
  sinceMs: number
  happened: Partial<Record<AlertEvent, Happened>>
}

export type Told = { integrationId: string; pauseMs: number }

/**
 * What a statement has stamped, and has not committed by then, would not be told. Statements end within ten seconds; the
 * rest is for the commit.
 */
const commitMs = 20_000
const integrationsAtATime = 50

/**
 * Lets `tell` tell integrations what has happened in their workspaces, and notes that they know, in one transaction: what
 * `tell` writes there is committed together with the note. One scheduler at a time does this.
 * @param tell - Answers for how long each integration is to be left alone.
 * @param lagMs - Default: twenty seconds, see `commitMs`.
 * @returns How many integrations had something to be told.
 */
export async function tellIntegrations(
  pool: Pool,
  tell: (tx: Transaction, news: IntegrationNews[]) => Promise<Told[]>,
  lagMs = commitMs,
): Promise<number> {
  return inTransaction(pool, async tx => {
    const round = await tx.query<{ until: string }>(
      `UPDATE alert_rounds r SET noticed_until = greatest(o.noticed_until, clock_timestamp() - $1 * interval '1 millisecond')
       FROM (SELECT id, noticed_until FROM alert_rounds FOR UPDATE SKIP LOCKED) o
       WHERE r.id = o.id RETURNING r.noticed_until::text AS until, o.noticed_until::text AS since`,
      [lagMs],
    )
    const [window] = round.rows as Array<{ since: string; until: string }>
    if (!window) return 0
    await noticeCronJobs(tx, window)
    const news = await findNews(tx, window.until)
    if (news.length === 0) return 0
    const told = await tell(tx, news)
    await noteTold(tx, window.until, told)
    return news.length
  })
}

async function findNews(tx: Transaction, until: string): Promise<IntegrationNews[]> {
  const { rows } = await tx.query<IntegrationNews>(newsStatement, [until, integrationsAtATime])
  return rows
}

async function noteTold(tx: Transaction, until: string, told: readonly Told[]): Promise<void> {
  await tx.query(
    `UPDATE integrations i
     SET told_until = $1, pause_ms = t.pause_ms, quiet_until = clock_timestamp() + t.pause_ms * interval '1 millisecond'
     FROM unnest($2::uuid[], $3::int[]) AS t (id, pause_ms) WHERE i.id = t.id`,
    [until, told.map(({ integrationId }) => integrationId), told.map(({ pauseMs }) => pauseMs)],
  )
}

// One more than anybody is told of exactly.
const mostCounted = 10_001
const mostNamed = 5

const happened = (rows: string) => `(
  SELECT json_build_object('count', count(*), 'items', json_agg(json_build_object('id', id, 'name', name) ORDER BY nth)
                                                         FILTER (WHERE nth <= ${mostNamed})) AS happened
  FROM (${rows} LIMIT ${mostCounted}) AS x HAVING count(*) > 0
)`

const deadTasks = happened(`
  SELECT t.id, t.nth, CASE WHEN t.nth <= ${mostNamed} THEN coalesce((SELECT name FROM task_requests WHERE task_id = t.id), 'a task') END AS name
  FROM (
    SELECT id, row_number() OVER (ORDER BY finished_at) AS nth FROM tasks
    WHERE workspace_id = i.workspace_id AND state = 'dead' AND finished_at > i.told_until AND finished_at <= $1
  ) AS t`)

const cronJobs = (health: string) =>
  happened(`
    SELECT id, name, row_number() OVER (ORDER BY health_changed_at, id) AS nth FROM cron_jobs
    WHERE workspace_id = i.workspace_id AND failing_since ${health}
      AND health_changed_at > i.told_until AND health_changed_at <= $1`)

const newsStatement = `
  SELECT i.id, i.workspace_id AS "workspaceId", w.name AS "workspaceName", i.channel, clock_timestamp() AS at,
         i.pause_ms AS "pauseMs", extract(epoch FROM clock_timestamp() - i.quiet_until)::float8 * 1000 + i.pause_ms AS "sinceMs",
         json_strip_nulls(json_build_object('task.dead', d.happened, 'cronjob.failing', f.happened,
                                            'cronjob.recovered', r.happened)) AS happened
  FROM integrations i
  JOIN workspaces w ON w.id = i.workspace_id AND w.deleted_at IS NULL
  LEFT JOIN LATERAL ${deadTasks} AS d ON i.events @> '{task.dead}'
  LEFT JOIN LATERAL ${cronJobs('IS NOT NULL')} AS f ON i.events @> '{cronjob.failing}'
  LEFT JOIN LATERAL ${cronJobs('IS NULL')} AS r ON i.events @> '{cronjob.recovered}'
  WHERE i.quiet_until <= clock_timestamp() AND i.told_until < $1::timestamptz
    AND (d.happened IS NOT NULL OR f.happened IS NOT NULL OR r.happened IS NOT NULL)
  ORDER BY i.told_until LIMIT $2`
