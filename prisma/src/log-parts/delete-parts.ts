import { type Tiers, tierNames } from '@belfry/domain/tiers'
import type { Pool } from '../postgres/pool.ts'
import { arraysOf } from '../postgres/statement-input.ts'

/** An object to delete, and then the row of its part. */
export type DeletablePart = { id: string; workspaceId: string; objectKey: string }

// An upload is given up long before. A younger part may still be written.
const isQuiet = `p.created_at < now() - interval '15 minutes'`

/**
 * Marks up to `limit` parts for deletion: parts past the log retention of their tier, parts of interrupted uploads, and
 * restored parts whose time in PostgreSQL is over. The same statement records the freed storage. It skips locked rows, so
 * concurrent callers mark different parts.
 * @param held - Organizations whose parts stay.
 * @returns How many there were.
 */
export async function markOldParts(pool: Pool, tiers: Tiers, held: readonly string[], limit: number): Promise<number> {
  const days = tierNames.map(name => tiers[name].logDays)
  const text = `
    WITH old AS (
      SELECT p.id FROM log_parts p
      LEFT JOIN workspaces w ON w.id = p.workspace_id
      LEFT JOIN organizations o ON o.id = w.organization_id
      LEFT JOIN unnest($1::text[], $2::int[]) AS kept (tier, days) ON kept.tier = o.tier
      WHERE p.state = 'stored' AND p.day < (now() AT TIME ZONE 'UTC')::date - $3::int
        AND p.last_run_id < uuid_v7_floor(now() - coalesce(kept.days, $3) * interval '1 day')
        AND (o.id = ANY ($4::uuid[])) IS NOT TRUE
      LIMIT $5
      FOR UPDATE OF p SKIP LOCKED
    ),
    interrupted AS (SELECT p.id FROM log_parts p WHERE p.state = 'writing' AND ${isQuiet} FOR UPDATE SKIP LOCKED),
    ended AS (SELECT p.id FROM log_parts p WHERE p.state = 'restored' AND p.hot_until < now() FOR UPDATE SKIP LOCKED),
    marked AS (
      UPDATE log_parts p SET state = 'deleting' WHERE p.id IN (TABLE old UNION ALL TABLE interrupted UNION ALL TABLE ended)
      RETURNING p.workspace_id, p.storage_bytes
    ),
    ${freedStorage}
    SELECT count(*)::int AS n FROM marked`
  const values = [tierNames, days, Math.min(...days), held, limit]
  return (await pool.query<{ n: number }>(text, values)).rows[0]?.n ?? 0
}

const freedStorage = `recorded AS (
      INSERT INTO usage_changes (workspace_id, storage_bytes)
      SELECT workspace_id, -sum(storage_bytes) FROM marked GROUP BY workspace_id HAVING sum(storage_bytes) > 0
    )`

/** SQL: marks all parts of the workspace `$1` for deletion. */
export const markPartsOfWorkspace = `
  WITH marked AS (
    UPDATE log_parts SET state = 'deleting' WHERE workspace_id = $1 AND state <> 'deleting'
    RETURNING workspace_id, storage_bytes
  ),
  ${freedStorage}
  SELECT FROM marked`

/**
 * Returns the parts whose objects are to be deleted, in the order of their ids.
 * @param after - The last part of the page before; null for the first page.
 */
export async function partsToDelete(pool: Pool, after: string | null, limit: number): Promise<DeletablePart[]> {
  const text = `
    SELECT p.id, p.workspace_id AS "workspaceId", p.object_key AS "objectKey" FROM log_parts p
    WHERE p.state = 'deleting' AND ${isQuiet} AND ($1::uuid IS NULL OR p.id > $1) ORDER BY p.id LIMIT $2`
  return (await pool.query<DeletablePart>(text, [after, limit])).rows
}

/** Deletes the row of a part whose object is gone. */
export async function forgetPart(pool: Pool, { id, workspaceId }: DeletablePart): Promise<void> {
  const text = `DELETE FROM log_parts WHERE id = $1 AND workspace_id = $2 AND state = 'deleting'`
  await pool.query(text, [id, workspaceId])
}

/** Marks a part whose runs stay in PostgreSQL for deletion. */
export async function abandonPart(pool: Pool, workspaceId: string, partId: string): Promise<void> {
  const text = `UPDATE log_parts SET state = 'deleting' WHERE workspace_id = $1 AND id = $2 AND state = 'writing'`
  await pool.query(text, [workspaceId, partId])
}

export type PartObject = { partId: string; workspaceId: string; day: string; key: string }

/**
 * Returns the keys of objects without a part whose workspace was deleted, or whose day is past the log retention of the
 * tier. An unknown workspace counts as having the longest retention: this database may be a copy, and the objects
 * belong to the original.
 * @param held - Organizations whose objects stay.
 */
export async function findOrphans(pool: Pool, objects: readonly PartObject[], tiers: Tiers, held: readonly string[]) {
  const text = `
    SELECT o.key FROM unnest($1::uuid[], $2::uuid[], $3::date[], $4::text[]) AS o (part_id, workspace_id, day, key)
    LEFT JOIN workspaces w ON w.id = o.workspace_id
    LEFT JOIN organizations owner ON owner.id = w.organization_id
    LEFT JOIN unnest($5::text[], $6::int[]) AS kept (tier, days) ON kept.tier = owner.tier
    WHERE NOT EXISTS (SELECT FROM log_parts p WHERE p.id = o.part_id AND p.workspace_id = o.workspace_id)
      AND (w.deleted_at IS NOT NULL OR (
        o.day < (now() AT TIME ZONE 'UTC')::date - coalesce(kept.days, $7::int)
        AND (owner.id = ANY ($8::uuid[])) IS NOT TRUE
      ))`
  const days = tierNames.map(name => tiers[name].logDays)
  const parts = arraysOf(objects, 'partId', 'workspaceId', 'day', 'key')
  const values = [...parts, tierNames, days, Math.max(...days), held]
  const { rows } = await pool.query<{ key: string }>({ name: 'find_orphans', text, values })
  return rows.map(({ key }) => key)
}
