import { type Tiers, tierNames } from '@belfry/domain/tiers'
import type { Pool } from '../postgres/pool.ts'
import { arraysOf } from '../postgres/statement-input.ts'

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
