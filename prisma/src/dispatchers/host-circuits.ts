import type { Db } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { isLive } from './heartbeat.ts'

/** The circuit breaker of a workspace's host, as one dispatcher has it. */
export type PublishedCircuit = {
  workspaceId: string
  host: string
  /** Milliseconds until the breaker is half-open; 0 or less when it is. */
  openForMs: number
}

/** A host whose circuit breaker is not closed in some live dispatcher. */
export type OpenCircuit = {
  workspaceId: string
  host: string
  /** `half_open`: some dispatcher probes the host with one attempt at a time. */
  state: 'open' | 'half_open'
  since: Date
  /** When the first dispatcher may probe the host. */
  nextProbeAt: Date
  /** How many dispatchers have opened the breaker. */
  dispatchers: number
}

const maxListed = 1_000
// The times are computed from another clock each time, so they differ by some milliseconds.
const sameTime = `interval '500 milliseconds'`

/**
 * Replaces the open circuit breakers of a dispatcher in PostgreSQL with those that it has in memory. Writes only what has
 * changed.
 * @returns The breakers that a user or an operator has asked to close, once.
 */
export async function publishCircuits(
  pool: Pool,
  dispatcher: string,
  circuits: readonly PublishedCircuit[],
): Promise<Array<{ workspaceId: string; host: string }>> {
  const values = [
    dispatcher,
    circuits.map(({ workspaceId }) => workspaceId),
    circuits.map(({ host }) => host),
    circuits.map(({ openForMs }) => openForMs),
  ]
  const { rows } = await pool.query<{ workspaceId: string; host: string }>({
    name: 'publish_circuits',
    text: publishStatement,
    values,
  })
  return rows
}

// The rows of a dispatcher that has died stay until another one publishes an hour later. They are not listed.
const publishStatement = `
  WITH input AS (SELECT * FROM unnest($2::uuid[], $3::text[], $4::float8[]) AS i (workspace_id, host, open_ms)),
  reset AS (
    DELETE FROM resting_hosts WHERE dispatcher = $1 AND reset_at IS NOT NULL RETURNING workspace_id, host
  ),
  closed AS (
    DELETE FROM resting_hosts r
    WHERE dispatcher = $1 AND reset_at IS NULL
      AND NOT EXISTS (SELECT FROM input i WHERE i.workspace_id = r.workspace_id AND i.host = r.host)
  ),
  forgotten AS (
    DELETE FROM resting_hosts r
    WHERE dispatcher <> $1 AND rests_until < now() - interval '1 hour'
      AND NOT EXISTS (SELECT FROM dispatchers d WHERE d.id = r.dispatcher)
  ),
  opened AS (
    INSERT INTO resting_hosts (workspace_id, host, dispatcher, rests_until)
    SELECT workspace_id, host, $1, clock_timestamp() + open_ms * interval '1 millisecond' FROM input i
    WHERE NOT EXISTS (
      SELECT FROM resting_hosts r
      WHERE r.workspace_id = i.workspace_id AND r.host = i.host AND r.dispatcher = $1
        AND (r.reset_at IS NOT NULL
             OR abs(extract(epoch FROM r.rests_until - clock_timestamp() - i.open_ms * interval '1 millisecond')) * interval '1 second' < ${sameTime})
    )
    ORDER BY workspace_id, host
    ON CONFLICT (workspace_id, host, dispatcher) DO UPDATE SET rests_until = excluded.rests_until
  )
  SELECT workspace_id AS "workspaceId", host FROM reset`

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

/** Asks every dispatcher to close the circuit breaker of a host. Returns how many dispatchers have opened it. */
export async function requestCircuitReset(
  db: Db,
  { workspaceId, host }: { workspaceId: string; host: string },
): Promise<number> {
  const text = 'UPDATE resting_hosts SET reset_at = now() WHERE workspace_id = $1 AND host = $2 AND reset_at IS NULL'
  return (await db.query(text, [workspaceId, host])).rowCount ?? 0
}
