import { newUuid } from '@belfry/domain/id'
import { connectionTestsChannel } from '../postgres/notices.ts'
import type { Pool } from '../postgres/pool.ts'

export type ConnectionTestOutcome = {
  ok: boolean
  /** A sentence without secrets. */
  message: string
  responseStatus: number | null
}

/** A test that a dispatcher runs. */
export type ConnectionTest = {
  id: string
  organizationId: string
  workspaceId: string
  name: string
  url: string | null
}

/** Asks a dispatcher to test a connection. Returns the id of the test. */
export async function requestConnectionTest(pool: Pool, workspaceId: string, connectionId: string, url: string | null) {
  const id = newUuid()
  const text = `
    WITH asked AS (
      INSERT INTO connection_tests (id, workspace_id, connection_id, url) VALUES ($1, $2, $3, $4) RETURNING id
    )
    SELECT pg_notify('${connectionTestsChannel}', '') FROM asked`
  await pool.query(text, [id, workspaceId, connectionId, url])
  return id
}

/** SQL: how long a caller waits for the start of a test. */
const waitedFor = `interval '5 seconds'`

/** Takes a test that no dispatcher has, of another organization than the excluded ones; null if all are taken. */
export async function takeConnectionTest(pool: Pool, excluded: readonly string[]): Promise<ConnectionTest | null> {
  const text = `
    UPDATE connection_tests t SET started_at = clock_timestamp() FROM connections c, workspaces w
    WHERE c.id = t.connection_id AND w.id = t.workspace_id AND t.id = (
      SELECT waiting.id FROM connection_tests waiting JOIN workspaces own ON own.id = waiting.workspace_id
      WHERE waiting.started_at IS NULL AND waiting.created_at > now() - ${waitedFor}
        AND own.organization_id <> ALL ($1::uuid[])
      ORDER BY waiting.created_at LIMIT 1 FOR UPDATE OF waiting SKIP LOCKED
    )
    RETURNING t.id, w.organization_id AS "organizationId", t.workspace_id AS "workspaceId", c.name, t.url`
  const { rows } = await pool.query<ConnectionTest>(text, [excluded])
  return rows[0] ?? null
}

export async function finishConnectionTest(pool: Pool, id: string, outcome: ConnectionTestOutcome): Promise<void> {
  await pool.query('UPDATE connection_tests SET outcome = $2 WHERE id = $1', [id, JSON.stringify(outcome)])
}

/** Returns whether a dispatcher has a test, and its outcome; null until it has ended. */
export async function readConnectionTest(pool: Pool, workspaceId: string, id: string) {
  const text = `
    SELECT started_at IS NOT NULL AS "isTaken", outcome::json AS outcome
    FROM connection_tests WHERE id = $1 AND workspace_id = $2`
  const values = [id, workspaceId]
  const { rows } = await pool.query<{ isTaken: boolean; outcome: ConnectionTestOutcome | null }>(text, values)
  return rows[0] ?? { isTaken: false, outcome: null }
}
