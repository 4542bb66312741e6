import type { Pool } from '@belfry/db'
import { joinRequests, type RunRow, runColumns } from '../runs/run-row.ts'

/** Runs of a workspace, oldest first, and the minimum number of omitted runs. */
export type SomeRuns = { runs: RunRow[]; omitted: number }

/** New runs, and the id up to which no further run will appear. */
export type NewRuns = SomeRuns & { upTo: string }

/** The maximum number of runs of a workspace in one read: more in a second are too many to follow. */
const maxShown = 200
/** The maximum number of ids in one read. Beyond it the number of omitted runs is too low. */
const maxIds = 20_000
// Covers the time that a claim takes to commit.
const overlap = `interval '3 seconds'`

/**
 * Finds the runs of a workspace that were recorded since the last call. A run's id has the time of its claim, and runs are
 * recorded in another order. So the function remembers the attempts that have been in flight for longer than the overlap,
 * and looks up by id those that are no longer in flight at the next call.
 */
export function followRuns(pool: Pool, workspaceId: string): () => Promise<NewRuns> {
  let since: string | undefined
  let longInFlight: string[] = []
  let seen = new Set<string>()
  return async () => {
    const now = await readInFlight(pool, workspaceId)
    const current = new Set(now.ids)
    const ended = longInFlight.filter(id => !current.has(id))
    const found = await readIds(pool, workspaceId, since ?? now.floor, ended)
    const fresh = found.filter(id => !seen.has(id))
    since = now.floor
    longInFlight = now.ids
    seen = new Set(found)
    const [upTo = now.floor] = [now.floor, ...now.ids].sort()
    return { ...(await readSome(pool, workspaceId, fresh)), upTo }
  }
}

/** Reads the runs after an id. */
export async function runsAfter(pool: Pool, workspaceId: string, after: string): Promise<SomeRuns> {
  return readSome(pool, workspaceId, await readIds(pool, workspaceId, after, []))
}

// Reads the runs that have been in flight for longer than the overlap: at most as many as all dispatchers have slots.
async function readInFlight(pool: Pool, workspaceId: string): Promise<{ ids: string[]; floor: string }> {
  const { rows } = await pool.query<{ ids: string[] | null; floor: string }>({
    name: 'runs_in_flight',
    text: `SELECT floor, array(
             SELECT run_id FROM tasks
             WHERE workspace_id = $1 AND state BETWEEN 'processing' AND 'processing' AND run_id <= floor
             ORDER BY state, id DESC
           )::text[] AS ids
           FROM (SELECT uuid_v7_floor(clock_timestamp() - ${overlap}) AS floor OFFSET 0) AS now`,
    values: [workspaceId],
  })
  const [row] = rows
  if (!row) throw new Error('The query returned no row.')
  return { ids: row.ids ?? [], floor: row.floor }
}

// Oldest first.
async function readIds(pool: Pool, workspaceId: string, since: string, named: string[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'runs_since',
    text: `(SELECT id FROM runs WHERE workspace_id = $1 AND id > $2 ORDER BY id DESC LIMIT ${maxIds})
           UNION SELECT id FROM runs WHERE workspace_id = $1 AND id = ANY ($3::uuid[])
           ORDER BY id`,
    values: [workspaceId, since, named],
  })
  return rows.map(({ id }) => id)
}

// Reads half of too many runs from those that took longest, and half from the newest.
async function readSome(pool: Pool, workspaceId: string, ids: readonly string[]): Promise<SomeRuns> {
  if (ids.length === 0) return { runs: [], omitted: 0 }
  const shown = ids.length <= maxShown ? ids : [...ids.slice(0, maxShown / 2), ...ids.slice(-maxShown / 2)]
  const { rows } = await pool.query<RunRow>({
    name: 'runs_by_id',
    text: `SELECT ${runColumns} FROM runs u ${joinRequests}
           WHERE u.workspace_id = $1 AND u.id = ANY ($2::uuid[]) ORDER BY u.id`,
    values: [workspaceId, shown],
  })
  return { runs: rows, omitted: ids.length - shown.length }
}
