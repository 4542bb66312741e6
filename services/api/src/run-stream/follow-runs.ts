import type { Pool } from '@belfry/db'
import { joinRequests, type RunRow, runColumns } from '../runs/run-row.ts'

/** New runs of a workspace, oldest first, and the id up to which no run will appear any more. */
export type NewRuns = { runs: RunRow[]; upTo: string }

// More in one look are too many for anybody to read: the newest are shown.
const mostShown = 200
const mostUnderWay = 1000
// Covers what a claim takes to be committed.
const overlap = `interval '3 seconds'`

/**
 * Finds the runs of a workspace that have been recorded since the last call. A run's id is the time of its claim, and
 * runs are recorded in another order, so what is under way at one call is asked for by name at the next.
 */
export function followRuns(pool: Pool, workspaceId: string): () => Promise<NewRuns> {
  let since: string | undefined
  let underWay: string[] = []
  let seen = new Set<string>()
  return async () => {
    const [now, before] = [await readUnderWay(pool, workspaceId), underWay]
    const found = await readIds(pool, workspaceId, since ?? now.floor, before)
    const fresh = found.filter(id => !seen.has(id))
    since = now.floor
    underWay = now.ids
    seen = new Set(found)
    const runs = await readRuns(pool, workspaceId, fresh.slice(0, mostShown))
    const upTo = [now.floor, ...now.ids].sort()[0] ?? now.floor
    return { runs, upTo }
  }
}

/** Reads what was recorded after an id: the newest runs, oldest first. */
export async function runsAfter(pool: Pool, workspaceId: string, after: string): Promise<RunRow[]> {
  const ids = await readIds(pool, workspaceId, after, [])
  return readRuns(pool, workspaceId, ids.slice(0, mostShown))
}

async function readUnderWay(pool: Pool, workspaceId: string): Promise<{ ids: string[]; floor: string }> {
  const { rows } = await pool.query<{ ids: string[] | null; floor: string }>({
    name: 'runs_under_way',
    text: `SELECT uuid_v7_floor(clock_timestamp() - ${overlap}) AS floor, array(
             SELECT run_id FROM tasks WHERE workspace_id = $1 AND state BETWEEN 'processing' AND 'processing'
             ORDER BY state, id DESC LIMIT ${mostUnderWay}
           )::text[] AS ids`,
    values: [workspaceId],
  })
  const [row] = rows
  if (!row) throw new Error('A query without a condition has a row.')
  return { ids: row.ids ?? [], floor: row.floor }
}

// Newest first.
async function readIds(pool: Pool, workspaceId: string, since: string, named: string[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'runs_since',
    text: `(SELECT id FROM runs WHERE workspace_id = $1 AND id > $2 ORDER BY id DESC LIMIT ${mostUnderWay})
           UNION SELECT id FROM runs WHERE workspace_id = $1 AND id = ANY ($3::uuid[])
           ORDER BY id DESC`,
    values: [workspaceId, since, named],
  })
  return rows.map(({ id }) => id)
}

async function readRuns(pool: Pool, workspaceId: string, ids: readonly string[]): Promise<RunRow[]> {
  if (ids.length === 0) return []
  const { rows } = await pool.query<RunRow>({
    name: 'runs_by_id',
    text: `SELECT ${runColumns} FROM runs u ${joinRequests}
           WHERE u.workspace_id = $1 AND u.id = ANY ($2::uuid[]) ORDER BY u.id`,
    values: [workspaceId, ids],
  })
  return rows
}
