import { NIL_UUID } from '@belfry/domain/id'
import type { Db } from '../postgres/in-transaction.ts'
import { circuitsChannel } from '../postgres/notices.ts'
import type { Pool } from '../postgres/pool.ts'
import { arraysOf } from '../postgres/statement-input.ts'
import { isLive } from './heartbeat.ts'

type Host = { workspaceId: string; host: string }

/** The circuit breaker of a workspace's host, as one dispatcher has it. */
export type PublishedCircuit = Host & {
  /** Milliseconds until the breaker is half-open; 0 or less when it is. */
  openForMs: number
}

/** A host whose circuit breaker is not closed in some live dispatcher. */
export type OpenCircuit = Host & {
  /** `half_open`: some dispatcher probes the host with one attempt at a time. */
  state: 'open' | 'half_open'
  since: Date
  /** When the first dispatcher may probe the host. */
  nextProbeAt: Date
  /** How many dispatchers have opened the breaker. */
  dispatchers: number
}

const maxListed = 1_000
/** SQL: the row is a user's pause. Its dispatcher is the nil UUID, and it is open-ended. */
export const isPause = `r.dispatcher = '${NIL_UUID}'`
/** How long a half-open breaker without an attempt is kept: longer than a probe takes. */
const forgottenAfter = `interval '20 minutes'`
// The times are computed from another clock each time, so they differ by some milliseconds.
const sameTime = `interval '500 milliseconds'`

/**
 * Replaces the open circuit breakers of a dispatcher in PostgreSQL with those that it has in memory. Writes only what has
 * changed, and notifies the other dispatchers of it. A breaker that has closed here is to be closed everywhere.
 * @returns `resets`: the breakers that a user, an operator or another dispatcher has asked to close, once. `opened`: those
 * that another dispatcher has opened for longer. They are returned for twenty minutes after they became half-open, even when
 * that dispatcher has died. `paused`: the hosts that a user has paused.
 */
export async function publishCircuits(pool: Pool, dispatcher: string, circuits: readonly PublishedCircuit[]) {
  const values = [dispatcher, ...arraysOf(circuits, 'workspaceId', 'host', 'openForMs')]
  const { rows } = await pool.query<{ resets: Host[]; opened: PublishedCircuit[]; paused: Host[] }>({
    name: 'publish_circuits',
    text: publishStatement,
    values,
  })
  return rows[0] ?? { resets: [], opened: [], paused: [] }
}

const isSame = (one: string, other: string) =>
  `${one}.workspace_id = ${other}.workspace_id AND ${one}.host = ${other}.host`
const untilOf = (input: string) => `clock_timestamp() + ${input}.open_ms * interval '1 millisecond'`

// The rows of a dispatcher that has died stay, so its successor knows the hosts that fail. They are not listed.
const publishStatement = `
  WITH input AS (SELECT * FROM unnest($2::uuid[], $3::text[], $4::float8[]) AS i (workspace_id, host, open_ms)),
  reset AS (
    DELETE FROM resting_hosts WHERE dispatcher = $1 AND reset_at IS NOT NULL RETURNING workspace_id, host
  ),
  closed AS (
    DELETE FROM resting_hosts r
    WHERE dispatcher = $1 AND reset_at IS NULL AND NOT EXISTS (SELECT FROM input i WHERE ${isSame('i', 'r')})
    RETURNING workspace_id, host
  ),
  closed_elsewhere AS (
    UPDATE resting_hosts r SET reset_at = now() FROM closed c
    WHERE ${isSame('r', 'c')} AND r.dispatcher <> $1 AND NOT ${isPause} AND r.reset_at IS NULL RETURNING 1
  ),
  forgotten AS (
    DELETE FROM resting_hosts r
    WHERE dispatcher <> $1 AND rests_until < now() - interval '1 hour'
      AND NOT EXISTS (SELECT FROM dispatchers d WHERE d.id = r.dispatcher)
  ),
  others AS (
    SELECT r.workspace_id, r.host, min(r.since) AS since, max(r.rests_until) AS rests_until FROM resting_hosts r
    WHERE r.dispatcher <> $1 AND NOT ${isPause} AND r.reset_at IS NULL AND r.rests_until > now() - ${forgottenAfter}
      AND NOT EXISTS (SELECT FROM closed c WHERE ${isSame('c', 'r')})
      AND NOT EXISTS (SELECT FROM reset c WHERE ${isSame('c', 'r')})
    GROUP BY 1, 2
  ),
  opened AS (
    INSERT INTO resting_hosts (workspace_id, host, dispatcher, since, rests_until)
    SELECT i.workspace_id, i.host, $1, coalesce(o.since, now()), ${untilOf('i')}
    FROM input i LEFT JOIN others o ON ${isSame('o', 'i')}
    WHERE NOT EXISTS (
      SELECT FROM resting_hosts r
      WHERE ${isSame('r', 'i')} AND r.dispatcher = $1
        AND (r.reset_at IS NOT NULL
             OR abs(extract(epoch FROM r.rests_until - (${untilOf('i')}))) * interval '1 second' < ${sameTime})
    )
    ORDER BY 1, 2
    ON CONFLICT (workspace_id, host, dispatcher) DO UPDATE SET rests_until = excluded.rests_until, probing_until = NULL
    RETURNING workspace_id, host, rests_until
  ),
  notified AS (
    SELECT pg_notify('${circuitsChannel}', '')
    WHERE EXISTS (SELECT FROM closed_elsewhere) OR EXISTS (
      SELECT FROM opened p WHERE NOT EXISTS (
        SELECT FROM others o WHERE ${isSame('o', 'p')} AND o.rests_until > p.rests_until - ${sameTime}
      )
    )
  )
  SELECT
    (SELECT coalesce(json_agg(json_build_object('workspaceId', workspace_id, 'host', host)), '[]') FROM reset) AS resets,
    (
      SELECT coalesce(json_agg(json_build_object(
               'workspaceId', workspace_id, 'host', host,
               'openForMs', extract(epoch FROM rests_until - clock_timestamp()) * 1000)), '[]')
      FROM others o
      WHERE NOT EXISTS (SELECT FROM input i WHERE ${isSame('i', 'o')} AND ${untilOf('i')} > o.rests_until - ${sameTime})
    ) AS opened,
    (
      SELECT coalesce(json_agg(json_build_object('workspaceId', workspace_id, 'host', host)), '[]') FROM resting_hosts r
      WHERE ${isPause}
    ) AS paused,
    (SELECT count(*) FROM notified) AS notified`

/**
 * Lets a dispatcher probe half-open hosts, each for `forMs`, unless another one may probe the host, or its breaker there is
 * still open.
 * @returns The hosts that the dispatcher may probe.
 */
export async function claimProbes(pool: Pool, dispatcher: string, hosts: readonly Host[], forMs: number) {
  const values = [dispatcher, ...arraysOf(hosts, 'workspaceId', 'host'), forMs]
  const { rows } = await pool.query<Host>({ name: 'claim_probes', text: probesStatement, values })
  return rows
}

// Two dispatchers that ask at the same time lock the same rows, and the second one sees what the first one has written.
const probesStatement = `
  WITH wanted AS (SELECT * FROM unnest($2::uuid[], $3::text[]) AS w (workspace_id, host)),
  locked AS MATERIALIZED (
    SELECT r.* FROM resting_hosts r JOIN wanted w ON ${isSame('w', 'r')}
    ORDER BY r.workspace_id, r.host, r.dispatcher FOR UPDATE OF r
  )
  UPDATE resting_hosts r SET probing_until = clock_timestamp() + $4::float8 * interval '1 millisecond'
  FROM locked mine
  WHERE ${isSame('r', 'mine')} AND r.dispatcher = $1 AND mine.dispatcher = $1 AND mine.reset_at IS NULL
    AND NOT EXISTS (
      SELECT FROM locked o
      WHERE ${isSame('o', 'mine')} AND o.dispatcher <> $1 AND o.reset_at IS NULL
        AND (o.probing_until > clock_timestamp() OR o.rests_until > clock_timestamp())
    )
  RETURNING r.workspace_id AS "workspaceId", r.host`

/**
 * Lists the hosts with an open circuit breaker, oldest first, as live dispatchers have published them. A task that is due
 * waits for the breaker if its host, by `hostOf`, is in this list.
 * @param workspaceId - Default: the hosts of all workspaces.
 */
export async function listOpenCircuits(db: Db, workspaceId: string | null = null): Promise<OpenCircuit[]> {
  const text = `
    SELECT r.workspace_id AS "workspaceId", r.host,
           CASE WHEN min(r.rests_until) > now() THEN 'open' ELSE 'half_open' END AS state,
           min(r.since) AS since, min(r.rests_until) AS "nextProbeAt", count(*)::int AS dispatchers
    FROM resting_hosts r JOIN dispatchers d ON d.id = r.dispatcher AND ${isLive('d')}
    WHERE r.reset_at IS NULL AND ($1::uuid IS NULL OR r.workspace_id = $1)
    GROUP BY r.workspace_id, r.host ORDER BY min(r.since), r.host LIMIT ${maxListed}`
  return (await db.query<OpenCircuit>(text, [workspaceId])).rows
}

/** Asks every dispatcher to close the circuit breaker of a host. Returns how many live dispatchers have opened it. */
export async function requestCircuitReset(db: Db, { workspaceId, host }: Host): Promise<number> {
  const text = `
    WITH reset AS (
      UPDATE resting_hosts r SET reset_at = now()
      WHERE workspace_id = $1 AND host = $2 AND NOT ${isPause} AND reset_at IS NULL
      RETURNING dispatcher
    )
    SELECT count(*)::int AS dispatchers, count(pg_notify('${circuitsChannel}', ''))
    FROM reset r JOIN dispatchers d ON d.id = r.dispatcher AND ${isLive('d')}`
  const { rows } = await db.query<{ dispatchers: number }>(text, [workspaceId, host])
  return rows[0]?.dispatchers ?? 0
}

export const maxPausedHosts = 1_000

/** Pauses a host for a workspace in every dispatcher, or resumes it. Returns false when too many hosts are paused. */
export async function pauseHost(db: Db, { workspaceId, host }: Host, isPaused: boolean): Promise<boolean> {
  const text = isPaused
    ? `INSERT INTO resting_hosts (workspace_id, host, dispatcher, rests_until) VALUES ($1, $2, '${NIL_UUID}', 'infinity')
       ON CONFLICT DO NOTHING`
    : `DELETE FROM resting_hosts r WHERE workspace_id = $1 AND host = $2 AND ${isPause}`
  await db.query(text, [workspaceId, host])
  await db.query('SELECT pg_notify($1, $2)', [circuitsChannel, ''])
  return (await listPausedHosts(db, workspaceId)).size <= maxPausedHosts
}

export async function listPausedHosts(db: Db, workspaceId: string): Promise<Map<string, Date>> {
  const text = `SELECT host, since FROM resting_hosts r WHERE workspace_id = $1 AND ${isPause}`
  const { rows } = await db.query<{ host: string; since: Date }>(text, [workspaceId])
  return new Map(rows.map(({ host, since }) => [host, since]))
}
