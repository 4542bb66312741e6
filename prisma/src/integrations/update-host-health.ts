import type { Transaction } from '../postgres/in-transaction.ts'

// Like the circuit breaker of a host, but needs fewer attempts.
const minAttempts = 5
const countedFor = `interval '5 minutes'`
const keptFor = `interval '1 day'`

/**
 * Marks the hosts that have started to fail or have recovered, of workspaces whose integrations ask for it. A host
 * fails when half of its attempts of the last five minutes failed. It stays so while it is not called.
 * @returns The workspaces of the hosts that changed.
 */
export async function updateHostHealth(tx: Transaction, until: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({ name: 'update_host_health', text: statement, values: [until] })
  return rows.map(({ id }) => id)
}

const statement = `
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
