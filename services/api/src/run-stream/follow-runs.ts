import type { Pool } from '@belfry/db'
import { joinRequests, type RunRow, runColumns } from '../runs/run-row.ts'

/** Runs of a workspace, oldest first, and how many more there were at least. */
export type SomeRuns = { runs: RunRow[]; omitted: number }

/** New runs, and the id up to which no run will appear any more. */
export type NewRuns = SomeRuns & { upTo: string }

/** Runs that are shown of one workspace at a time: more in a second are too many to read. */
const maxShown = 200
/** Ids that are read at a time. Beyond, the count of omitted runs is too low. */
const maxIds = 20_000
// Covers what a claim takes to be committed.
const overlap = `interval '3 seconds'`

/**
 * Finds the runs of a workspace that have been recorded since the last call. A run's id is the time of its claim, and runs
 * are recorded in another order. So all attempts that have been in flight for longer than the overlap are remembered, and
 * those that are no longer in flight at the next call are looked up by their ids.
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

/** Reads what was recorded after an id. */
export async function runsAfter(pool: Pool, workspaceId: string, after: string): Promise<SomeRuns> {
  return readSome(pool, workspaceId, await readIds(pool, workspaceId, after, []))
}

/** The runs that have been in flight for longer than the overlap. There are no more than slots in all dispatchers. */
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
  if (!row) throw new Error('A query without a condition has a row.')
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

// Of too many, half are those that took longest, and half are the newest.
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
