import { type Tiers, tierNames } from '@belfry/domain'
import type { Pool } from '../postgres/pool.ts'

export type KeptLog = { workspaceId: string; days: number }

/**
 * The workspaces that have tasks, in order of their ids, and for how many days each keeps its log. One that has been
 * deleted keeps it as long as the tier with the shortest log.
 * @param after - The last workspace that is known already; null to start.
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

// Jumps from one workspace to the next within the index: reading all entries of each would be reading all tasks.
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
