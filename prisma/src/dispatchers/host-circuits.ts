import type { Pool } from '../postgres/pool.ts'

/** The circuit breaker of a workspace's host in one dispatcher. */
export type HostCircuit = { dispatcher: string; workspaceId: string; host: string }

/** A host with an open circuit. `probing` means half-open: one call at a time, until one succeeds. */
export type OpenCircuit = {
  workspaceId: string
  host: string
  state: 'resting' | 'probing'
  since: Date
  restsUntil: Date
  /** How many dispatchers have opened the circuit. */
  dispatchers: number
}

const maxListed = 1_000

/** Records that a circuit is open for `openMs` from now. */
export async function recordOpenCircuit(
  pool: Pool,
  { dispatcher, workspaceId, host }: HostCircuit,
  openMs: number,
): Promise<void> {
  const text = `
    INSERT INTO resting_hosts (workspace_id, host, dispatcher, rests_until)
    VALUES ($1, $2, $3, now() + $4 * interval '1 millisecond')
    ON CONFLICT (workspace_id, host, dispatcher) DO UPDATE SET rests_until = excluded.rests_until`
  await pool.query(text, [workspaceId, host, dispatcher, openMs])
}

/** Records that a circuit is closed again. */
export async function recordClosedCircuit(pool: Pool, { dispatcher, workspaceId, host }: HostCircuit): Promise<void> {
  const text = 'DELETE FROM resting_hosts WHERE workspace_id = $1 AND host = $2 AND dispatcher = $3'
  await pool.query(text, [workspaceId, host, dispatcher])
}

/** Lists the hosts with an open circuit, oldest first. The circuits of a lost dispatcher count for five minutes. */
export async function listOpenCircuits(pool: Pool): Promise<OpenCircuit[]> {
  const text = `
    SELECT workspace_id AS "workspaceId", host, CASE WHEN max(rests_until) > now() THEN 'resting' ELSE 'probing' END AS state,
           min(since) AS since, max(rests_until) AS "restsUntil", count(*)::int AS dispatchers
    FROM resting_hosts WHERE reset_at IS NULL AND rests_until > now() - interval '5 minutes'
    GROUP BY workspace_id, host ORDER BY min(since), host LIMIT ${maxListed}`
  return (await pool.query<OpenCircuit>(text)).rows
}

/** Asks every dispatcher to close the circuit of a host. Returns how many dispatchers have opened it. */
export async function requestCircuitReset(
  db: Pick<Pool, 'query'>,
  { workspaceId, host }: Pick<HostCircuit, 'workspaceId' | 'host'>,
): Promise<number> {
  const text = 'UPDATE resting_hosts SET reset_at = now() WHERE workspace_id = $1 AND host = $2 AND reset_at IS NULL'
  return (await db.query(text, [workspaceId, host])).rowCount ?? 0
}

/** Returns the circuits that a dispatcher must close, once. Also deletes circuits that were not renewed for an hour. */
export async function takeCircuitResets(
  pool: Pool,
  dispatcher: string,
): Promise<Array<{ workspaceId: string; host: string }>> {
  const text = `
    DELETE FROM resting_hosts
    WHERE (dispatcher = $1 AND reset_at IS NOT NULL) OR rests_until < now() - interval '1 hour'
    RETURNING workspace_id AS "workspaceId", host, dispatcher`
  const { rows } = await pool.query<HostCircuit>(text, [dispatcher])
  return rows.filter(row => row.dispatcher === dispatcher)
}
