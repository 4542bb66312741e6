import { type Tiers, tierNames } from '@belfry/domain'
import type { Pool } from '../postgres/pool.ts'

export type KeptLog = { workspaceId: string; days: number }

/**
 * Finds workspaces with tasks, in the order of their ids, and for how many days each keeps its log. A purged workspace keeps
 * it as long as the tier with the shortest log.
 * @param after - The last workspace of the previous page; null for the first page.
 */
export async function workspacesWithTasks(
  pool: Pool,
  tiers: Tiers,
  after: string | null,
  limit: number,
): Promise<KeptLog[]> {
  const days = tierNames.map(name => tiers[name].logDays)
  const values = [after, limit, tierNames, days, Math.min(...days)]
  const { rows } = await pool.query<KeptLog>({ name: 'workspaces_with_tasks', text: statement, values })
  return rows
}

// A recursive query, because it jumps from one workspace to the next in the index. DISTINCT would read all entries.
const statement = `
  WITH RECURSIVE found (id, n) AS (
    (SELECT workspace_id, 1 FROM tasks WHERE $1::uuid IS NULL OR workspace_id > $1 ORDER BY workspace_id LIMIT 1)
    UNION ALL
    SELECT (SELECT workspace_id FROM tasks WHERE workspace_id > found.id ORDER BY workspace_id LIMIT 1), n + 1
    FROM found WHERE found.id IS NOT NULL AND n < $2
  )
  SELECT found.id AS "workspaceId", coalesce(kept.days, $5::int) AS days
  FROM found
  LEFT JOIN workspaces w ON w.id = found.id
  LEFT JOIN organizations o ON o.id = w.organization_id
  LEFT JOIN unnest($3::text[], $4::int[]) AS kept (tier, days) ON kept.tier = o.tier
  WHERE found.id IS NOT NULL
  ORDER BY found.id`
