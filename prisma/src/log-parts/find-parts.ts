import type { LogPart as StoredPart } from '../generated/client.ts'
import type { Db } from '../postgres/in-transaction.ts'

export type LogPart = Pick<StoredPart, 'id' | 'workspaceId' | 'objectKey' | 'lastRunId' | 'objectBytes' | 'checksum'>

export const partColumns = `
  p.id, p.workspace_id AS "workspaceId", p.object_key AS "objectKey", p.last_run_id AS "lastRunId",
  p.object_bytes AS "objectBytes", p.checksum`

// A list that has read PostgreSQL before the restore of a part still needs the part.
const isReadable = `(p.state = 'stored' OR p.state = 'restored' AND p.restored_at > now() - interval '1 minute')`

/** Which parts to find: those with runs whose ids are from `from` to before `before`, perhaps only of some tasks. */
export type PartRange = { from: string; before: string; taskIds?: readonly string[] | undefined }

/**
 * Finds parts of some workspaces, the newest first.
 * @param order - `ASC` for the oldest first.
 */
export async function findParts(
  db: Db,
  workspaceIds: readonly string[],
  { from, before, taskIds }: PartRange,
  limit: number,
  order: 'ASC' | 'DESC' = 'DESC',
): Promise<LogPart[]> {
  const text = `
    SELECT found.* FROM unnest($1::uuid[]) AS workspace (id) CROSS JOIN LATERAL (
      SELECT ${partColumns} FROM log_parts p
      WHERE p.workspace_id = workspace.id AND p.last_run_id >= $2 AND p.first_run_id < $3 AND ${isReadable}
        AND ($5::uuid[] IS NULL OR EXISTS (
          SELECT FROM unnest($5::uuid[]) AS task (id) WHERE task.id BETWEEN p.first_task_id AND p.last_task_id
        ))
      ORDER BY p.last_run_id ${order} LIMIT $4
    ) found ORDER BY found."lastRunId" ${order} LIMIT $4`
  const { rows } = await db.query<LogPart>(text, [workspaceIds, from, before, limit, taskIds ?? null])
  return rows
}

/** Returns whether a part of a workspace is still to be read. The retention may have deleted it since it was found. */
export async function isPartReadable(db: Db, workspaceId: string, partId: string): Promise<boolean> {
  const text = `SELECT FROM log_parts p WHERE p.workspace_id = $1 AND p.id = $2 AND ${isReadable}`
  return (await db.query(text, [workspaceId, partId])).rowCount === 1
}

export async function hasLogParts(db: Db): Promise<boolean> {
  return (await db.query('SELECT FROM log_parts LIMIT 1')).rowCount === 1
}
