import type { Pool } from '../postgres/pool.ts'

/** A host that rests for a workspace, as one dispatcher sees it. */
export type HostRest = { dispatcher: string; workspaceId: string; host: string }

/** `resting` until its time has passed; then `probing`, one call at a time, until one goes well. */
export type RestingHost = {
  workspaceId: string
  host: string
  state: 'resting' | 'probing'
  since: Date
  restsUntil: Date
  /** How many dispatchers leave it alone. */
  dispatchers: number
}

const mostListed = 1_000

/** Notes that a host rests, or rests again. */
export async function noteHostRest(
  pool: Pool,
  { dispatcher, workspaceId, host }: HostRest,
  restMs: number,
): Promise<void> {
  const text = `
    INSERT INTO resting_hosts (workspace_id, host, dispatcher, rests_until)
    VALUES ($1, $2, $3, now() + $4 * interval '1 millisecond')
    ON CONFLICT (workspace_id, host, dispatcher) DO UPDATE SET rests_until = excluded.rests_until`
  await pool.query(text, [workspaceId, host, dispatcher, restMs])
}

/** Notes that a host does well again. */
export async function endHostRest(pool: Pool, { dispatcher, workspaceId, host }: HostRest): Promise<void> {
  const text = 'DELETE FROM resting_hosts WHERE workspace_id = $1 AND host = $2 AND dispatcher = $3'
  await pool.query(text, [workspaceId, host, dispatcher])
}

/** The hosts that rest, those first that have done so longest. What a lost dispatcher has noted counts for five minutes. */
export async function listRestingHosts(pool: Pool): Promise<RestingHost[]> {
  const text = `
    SELECT workspace_id AS "workspaceId", host, CASE WHEN max(rests_until) > now() THEN 'resting' ELSE 'probing' END AS state,
           min(since) AS since, max(rests_until) AS "restsUntil", count(*)::int AS dispatchers
    FROM resting_hosts WHERE reset_at IS NULL AND rests_until > now() - interval '5 minutes'
    GROUP BY workspace_id, host ORDER BY min(since), host LIMIT ${mostListed}`
  return (await pool.query<RestingHost>(text)).rows
}

/** Asks every dispatcher to end a host's rest. Returns how many there are to do so. */
export async function resetHost(
  db: Pick<Pool, 'query'>,
  { workspaceId, host }: Pick<HostRest, 'workspaceId' | 'host'>,
): Promise<number> {
  const text = 'UPDATE resting_hosts SET reset_at = now() WHERE workspace_id = $1 AND host = $2 AND reset_at IS NULL'
  return (await db.query(text, [workspaceId, host])).rowCount ?? 0
}

/** Takes the rests that a dispatcher has been asked to end, and removes what nobody has renewed for an hour. */
export async function takeHostResets(
  pool: Pool,
  dispatcher: string,
): Promise<Array<{ workspaceId: string; host: string }>> {
  const text = `
    DELETE FROM resting_hosts
    WHERE (dispatcher = $1 AND reset_at IS NOT NULL) OR rests_until < now() - interval '1 hour'
    RETURNING workspace_id AS "workspaceId", host, dispatcher`
  const { rows } = await pool.query<HostRest>(text, [dispatcher])
  return rows.filter(row => row.dispatcher === dispatcher)
}
