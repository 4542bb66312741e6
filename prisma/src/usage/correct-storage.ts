import { taskStates } from '@belfry/domain'
import type { Transaction } from '../in-transaction.ts'
import type { Pool } from '../pool.ts'

export type StorageCorrection = {
  organizationId: string
  /** How far the sum was from what is stored: positive where it was too small. */
  driftBytes: number
}

const pageSize = 10_000

/**
 * Counts one by one what an organization has stored, and mends its sum: of the organization that was counted longest
 * ago, if that is longer than `ageMs`, else none. Page by page on one snapshot, in which the sum and the notes that are
 * not in it yet are seen too, so that whatever is stored meanwhile neither waits nor disturbs the difference. Of several
 * callers each takes another organization.
 * @returns Null when there was nothing to do, or when `signal` was aborted, which leaves this one to tomorrow.
 */
export async function correctStorage(
  pool: Pool,
  ageMs: number,
  signal: AbortSignal,
): Promise<StorageCorrection | null> {
  const organizationId = await takeOldest(pool, ageMs)
  if (organizationId === null) return null
  const driftBytes = await inSnapshot(pool, tx => measureDrift(tx, organizationId, signal))
  if (driftBytes === null) return null
  const text = 'UPDATE storage SET bytes = bytes + $2 WHERE organization_id = $1'
  if (driftBytes !== 0) await pool.query(text, [organizationId, driftBytes])
  return { organizationId, driftBytes }
}

async function takeOldest(pool: Pool, ageMs: number): Promise<string | null> {
  const text = `
    UPDATE storage SET corrected_at = now() WHERE organization_id = (
      SELECT organization_id FROM storage WHERE corrected_at < now() - $1 * interval '1 millisecond'
      ORDER BY corrected_at LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING organization_id AS id`
  const { rows } = await pool.query<{ id: string }>(text, [ageMs])
  return rows[0]?.id ?? null
}

async function inSnapshot<T>(pool: Pool, run: (tx: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let failed = true
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const result = await run(client)
    await client.query('COMMIT')
    failed = false
    return result
  } finally {
    client.release(failed) // a connection in an unknown state is closed
  }
}

async function measureDrift(tx: Transaction, organizationId: string, signal: AbortSignal): Promise<number | null> {
  const { rows } = await tx.query<{ bytes: string }>(countedBytes, [organizationId])
  const workspaces = await tx.query<{ id: string }>('SELECT id FROM workspaces WHERE organization_id = $1', [
    organizationId,
  ])
  let stored = 0
  const parts = [[bodyPage], ...taskStates.map(state => [payloadPage, state])] as const
  for (const { id } of workspaces.rows) {
    for (const [page, ...more] of parts) {
      for await (const bytes of pages(tx, page, [id, ...more])) {
        stored += bytes
        if (signal.aborted) return null
      }
    }
  }
  return stored - Number(rows[0]?.bytes ?? 0)
}

async function* pages(tx: Transaction, text: string, [workspaceId, ...more]: string[]): AsyncIterable<number> {
  let after: string | null = '00000000-0000-0000-0000-000000000000'
  while (after !== null) {
    const { rows }: { rows: Array<{ bytes: string; last: string | null }> } = await tx.query(text, [
      workspaceId,
      after,
      ...more,
    ])
    yield Number(rows[0]?.bytes ?? 0)
    after = rows[0]?.last ?? null
  }
}

const countedBytes = `
  SELECT s.bytes + coalesce((
    SELECT sum(c.storage_bytes) FROM usage_changes c JOIN workspaces w ON w.id = c.workspace_id
    WHERE w.organization_id = s.organization_id
  ), 0) AS bytes
  FROM storage s WHERE organization_id = $1`

// Of one state, because in that order the tasks of a workspace are indexed; within a snapshot none changes its state.
const payloadPage = `
  SELECT coalesce(sum(octet_length(r.payload)), 0) AS bytes, (array_agg(t.id ORDER BY t.id DESC))[1] AS last
  FROM (
    SELECT id FROM tasks WHERE workspace_id = $1 AND state BETWEEN $3::task_state AND $3 AND id > $2
    ORDER BY state DESC, id LIMIT ${pageSize}
  ) t
  JOIN task_requests r ON r.task_id = t.id`

const bodyPage = `
  SELECT coalesce(sum(octet_length(response_body)), 0) AS bytes, (array_agg(id ORDER BY id DESC))[1] AS last
  FROM (
    SELECT id, response_body FROM runs WHERE workspace_id = $1 AND id > $2 ORDER BY id LIMIT ${pageSize}
  ) page`
