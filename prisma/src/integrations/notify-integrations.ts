import type { AlertChannel, AlertEvent } from '@belfry/domain/alerts'
import { findOwners } from '../organizations/organizations.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { missedReason } from '../tasks/insert-tasks.ts'
import { updateHealth } from './update-health.ts'

export type IntegrationNews = {
  id: string
  workspaceId: string
  workspaceName: string
  channel: AlertChannel
  /** When the events were found. */
  at: Date
  /** The pause after the last alert, and the time since then. */
  pauseMs: number
  sinceMs: number
  /** The tasks, cron jobs or hosts of each event: their number, and the first few. */
  happened: Partial<Record<AlertEvent, { count: number; items: Array<{ id: string; name: string }> }>>
}

/** An integration that was notified, and the pause until its next alert. */
export type Notified = { integrationId: string; pauseMs: number }

/** An event may have a timestamp this much older than its write: each statement ends within ten seconds. */
const maxStampAgeMs = 20_000

// A transaction that has been writing for longer no longer delays alerts.
const maxCommitMinutes = 10
const integrationsPerPage = 50

/**
 * Calls `notify` with the unreported events of up to 50 integrations, and marks these as reported. Both are committed in
 * one transaction. One scheduler at a time runs this.
 *
 * A round covers the time before the oldest transaction that is still writing. So alerts wait for a slow commit, up to
 * ten minutes, and include its events. When the clock of PostgreSQL was set back, the rounds go back too: events of the time
 * that comes again may be reported twice.
 * @param notify - Writes the alerts, and returns the pause of each integration.
 * @param lagMs - Default: twenty seconds, see `maxStampAgeMs`.
 * @returns How many integrations had events, and whether more are waiting.
 */
export async function notifyIntegrations(
  pool: Pool,
  notify: (tx: Transaction, news: IntegrationNews[]) => Promise<Notified[]>,
  lagMs = maxStampAgeMs,
): Promise<{ notified: number; hasMore: boolean }> {
  return inTransaction(pool, async tx => {
    const { rows } = await tx.query<Round>(roundStatement, [lagMs])
    const [round] = rows
    if (!round) return { notified: 0, hasMore: false }
    if (round.isBack) await goBack(tx, round.until)
    // A change has the time of its round, so it waits while that time was told already.
    const isTold = round.until === round.noticedSince
    const changed = isTold ? [] : await updateHealth(tx, round.noticedSince, round.until)
    await markIntegrations(tx, round, changed)
    const due = await tx.query<{ id: string }>(dueIntegrationsStatement, [integrationsPerPage])
    const ids = due.rows.map(({ id }) => id)
    if (ids.length === 0) return { notified: 0, hasMore: false }
    const { rows: news } = await tx.query<IntegrationNews>(newsStatement, [round.until, ids])
    const notified = news.length === 0 ? [] : await notify(tx, news)
    await recordNotified(tx, round.until, ids, notified)
    return { notified: news.length, hasMore: ids.length === integrationsPerPage }
  })
}

// The bounds of the time windows, as PostgreSQL writes them.
type Round = { until: string; noticedSince: string; markedSince: string; isBack: boolean }

const roundStatement = `
  UPDATE alert_rounds r SET noticed_until = o.until, marked_until = o.until
  FROM (
    SELECT id, noticed_until, marked_until, greatest(
             CASE WHEN noticed_until <= clock_timestamp() THEN greatest(noticed_until, marked_until) END, least(
               clock_timestamp() - $1 * interval '1 millisecond',
               greatest(clock_timestamp() - interval '${maxCommitMinutes} minutes', (
                 SELECT coalesce(min(xact_start) - interval '1 millisecond', 'infinity') FROM pg_stat_activity
                 WHERE datname = current_database() AND backend_type = 'client backend' AND backend_xid IS NOT NULL
                   AND pid <> pg_backend_pid()
               ))
             )
           ) AS until
    FROM alert_rounds FOR UPDATE SKIP LOCKED
  ) o
  WHERE r.id = o.id
  RETURNING r.noticed_until::text AS until, least(o.noticed_until, r.noticed_until)::text AS "noticedSince",
            least(o.marked_until, r.noticed_until)::text AS "markedSince", o.noticed_until > r.noticed_until AS "isBack"`

// Otherwise integrations hear nothing before the clock is where it was.
async function goBack(tx: Transaction, until: string): Promise<void> {
  const text = `
    UPDATE integrations SET told_until = $1, quiet_until = least(quiet_until, clock_timestamp() + pause_ms * interval '1 millisecond')
    WHERE told_until > $1`
  await tx.query(text, [until])
}

// The switch-off of a subscription has its own alert.
const isNews = `state_reason IS DISTINCT FROM '${missedReason}'`

// Starts from the events: integrations without news are not read.
async function markIntegrations(tx: Transaction, { markedSince, until }: Round, workspaces: string[]): Promise<void> {
  await tx.query(
    `UPDATE integrations i SET has_news = true
     FROM (
       SELECT DISTINCT workspace_id FROM tasks
       WHERE state = 'dead' AND finished_at > $1 AND finished_at <= $2 AND ${isNews}
     ) t
     WHERE i.workspace_id = t.workspace_id AND i.events @> '{task.dead}' AND NOT i.has_news`,
    [markedSince, until],
  )
  if (workspaces.length === 0) return
  await tx.query(
    `UPDATE integrations SET has_news = true
     WHERE workspace_id = ANY ($1) AND events && '{cronjob.failing,cronjob.recovered,host.failing,host.recovered}' AND NOT has_news`,
    [workspaces],
  )
}

export const dueIntegrationsStatement = `
  SELECT id FROM integrations WHERE has_news AND quiet_until <= now() ORDER BY quiet_until LIMIT $1 FOR UPDATE`

async function recordNotified(tx: Transaction, until: string, checked: string[], notified: readonly Notified[]) {
  await tx.query('UPDATE integrations SET has_news = false WHERE id = ANY ($1)', [checked])
  await tx.query(
    `UPDATE integrations i
     SET told_until = $1, pause_ms = t.pause_ms, quiet_until = clock_timestamp() + t.pause_ms * interval '1 millisecond'
     FROM unnest($2::uuid[], $3::int[]) AS t (id, pause_ms) WHERE i.id = t.id`,
    [until, notified.map(({ integrationId }) => integrationId), notified.map(({ pauseMs }) => pauseMs)],
  )
}

// An alert counts up to 10,000 exactly.
const maxCounted = 10_001
const maxNamed = 5

const happened = (rows: string) => `(
  SELECT json_build_object('count', count(*), 'items', json_agg(json_build_object('id', id, 'name', name) ORDER BY nth)
                                                         FILTER (WHERE nth <= ${maxNamed})) AS happened
  FROM (${rows} LIMIT ${maxCounted}) AS x HAVING count(*) > 0
)`

const deadTasks = happened(`
  SELECT t.id, t.nth, CASE WHEN t.nth <= ${maxNamed} THEN coalesce((SELECT name FROM task_requests WHERE task_id = t.id), 'a task') END AS name
  FROM (
    SELECT id, row_number() OVER (ORDER BY finished_at) AS nth FROM tasks
    WHERE workspace_id = i.workspace_id AND state = 'dead' AND finished_at > i.told_until AND finished_at <= $1 AND ${isNews}
  ) AS t`)

const changedHealth = (table: string, id: string, name: string, health: string) =>
  happened(`
    SELECT ${id} AS id, ${name} AS name, row_number() OVER (ORDER BY health_changed_at, ${id}) AS nth FROM ${table}
    WHERE workspace_id = i.workspace_id AND failing_since ${health}
      AND health_changed_at > i.told_until AND health_changed_at <= $1`)
const cronJobs = (health: string) => changedHealth('cron_jobs', 'id', 'name', health)
const hosts = (health: string) => changedHealth('failing_hosts', 'host', 'host', health)

const newsStatement = `
  SELECT i.id, i.workspace_id AS "workspaceId", w.name AS "workspaceName", i.channel, clock_timestamp() AS at,
         i.pause_ms AS "pauseMs", extract(epoch FROM clock_timestamp() - i.quiet_until)::float8 * 1000 + i.pause_ms AS "sinceMs",
         json_strip_nulls(json_build_object('task.dead', d.happened, 'cronjob.failing', f.happened,
                                            'cronjob.recovered', r.happened, 'host.failing', h.happened,
                                            'host.recovered', g.happened)) AS happened
  FROM integrations i
  JOIN workspaces w ON w.id = i.workspace_id AND w.deleted_at IS NULL
  LEFT JOIN LATERAL ${deadTasks} AS d ON i.events @> '{task.dead}'
  LEFT JOIN LATERAL ${cronJobs('IS NOT NULL')} AS f ON i.events @> '{cronjob.failing}'
  LEFT JOIN LATERAL ${cronJobs('IS NULL')} AS r ON i.events @> '{cronjob.recovered}'
  LEFT JOIN LATERAL ${hosts('IS NOT NULL')} AS h ON i.events @> '{host.failing}'
  LEFT JOIN LATERAL ${hosts('IS NULL')} AS g ON i.events @> '{host.recovered}'
  WHERE i.id = ANY ($2) AND i.told_until < $1::timestamptz
    AND coalesce(d.happened, f.happened, r.happened, h.happened, g.happened) IS NOT NULL
  ORDER BY i.told_until, i.id`

/**
 * Finds the recipients of an event of an organization: its owners, and the integrations that subscribe to the event; null when
 * the organization has been deleted.
 */
export async function findAudience(tx: Transaction, organizationId: string, event: AlertEvent) {
  const organization = await findOwners(tx, organizationId)
  if (!organization) return null
  const integrations = await tx.query<Pick<IntegrationNews, 'id' | 'workspaceId' | 'workspaceName' | 'channel'>>(
    `SELECT i.id, i.workspace_id AS "workspaceId", w.name AS "workspaceName", i.channel
     FROM workspaces w JOIN integrations i ON i.workspace_id = w.id
     WHERE w.organization_id = $1 AND w.deleted_at IS NULL AND $2 = ANY (i.events)`,
    [organizationId, event],
  )
  return { ...organization, integrations: integrations.rows }
}
