import { EventEmitter } from 'node:events'
import type { Pool } from '@belfry/db/postgres/pool'
import { firstUuidAt, timeOfUuid } from '@belfry/domain/id'
import type { RunRow } from '@belfry/present/run-row'
import { every } from '@belfry/runtime'
import { joinRequests, runColumns } from '../run-scan.ts'

/** Runs of a workspace, oldest first, and the minimum number of omitted runs. */
export type SomeRuns = { runs: RunRow[]; omitted: number }

/** New runs, and the id up to which the runs are complete. */
type NewRuns = SomeRuns & { upTo: string }

/** The maximum number of runs of a workspace in one read: more in a second are too many to follow. */
const maxShown = 200
/** The maximum number of ids in one read. Beyond it the number of omitted runs is too low. */
const maxIds = 20_000
// Covers the time that a claim takes to commit.
const overlap = `interval '3 seconds'`

/** What the last look at a workspace has shown. */
type Seen = { since: string; longInFlight: string[]; ids: Set<string> }

/**
 * Returns a function that finds the runs of workspaces that were recorded since it was last called for them. One call takes
 * three statements, for any number of workspaces. A run's id has the time of its claim, and runs are recorded in another
 * order. So the function remembers the attempts that have been in flight for longer than the overlap, and looks up by id
 * those that are no longer in flight at the next call.
 */
export function followRuns(pool: Pool): (workspaceIds: readonly string[]) => Promise<Map<string, NewRuns>> {
  let before = new Map<string, Seen>()
  return async workspaceIds => {
    const { floor, inFlight } = await readInFlight(pool, workspaceIds)
    const searches = workspaceIds.map(workspaceId => {
      const current = new Set(inFlight.get(workspaceId))
      const { since = floor, longInFlight = [] } = before.get(workspaceId) ?? {}
      return { workspaceId, since, named: longInFlight.filter(id => !current.has(id)) }
    })
    const found = await readIds(pool, searches)
    const isFresh = (workspaceId: string, id: string) => !before.get(workspaceId)?.ids.has(id)
    const fresh = [...found].map(([of, ids]) => [of, ids.filter(id => isFresh(of, id))] as const)
    const some = await readSome(pool, fresh)
    const longInFlight = (workspaceId: string) => inFlight.get(workspaceId) ?? []
    before = new Map(
      workspaceIds.map(id => [id, { since: floor, longInFlight: longInFlight(id), ids: new Set(found.get(id)) }]),
    )
    return new Map(
      workspaceIds.map(id => {
        // Before the oldest call in flight, whose run is yet to come.
        const [first = floor] = [floor, ...longInFlight(id)].sort()
        return [id, { ...(some.get(id) ?? { runs: [], omitted: 0 }), upTo: firstUuidAt(timeOfUuid(first)) }]
      }),
    )
  }
}

export async function runsAfter(pool: Pool, workspaceId: string, after: string): Promise<SomeRuns> {
  const found = await readIds(pool, [{ workspaceId, since: after, named: [] }])
  return (await readSome(pool, found)).get(workspaceId) ?? { runs: [], omitted: 0 }
}

// Reads the runs that have been in flight for longer than the overlap: at most as many as all dispatchers have slots.
async function readInFlight(pool: Pool, workspaceIds: readonly string[]) {
  const { rows } = await pool.query<{ workspaceId: string; ids: string[]; floor: string }>({
    name: 'runs_in_flight',
    text: `SELECT w.id AS "workspaceId", floor, array(
             SELECT run_id FROM tasks
             WHERE workspace_id = w.id AND state BETWEEN 'processing' AND 'processing' AND run_id <= floor
             ORDER BY state, id DESC
           )::text[] AS ids
           FROM (SELECT uuid_v7_floor(clock_timestamp() - ${overlap}) AS floor OFFSET 0) AS now
           CROSS JOIN unnest($1::uuid[]) AS w (id)`,
    values: [workspaceIds],
  })
  const [row] = rows
  if (!row) throw new Error('The query returned no row.')
  return { floor: row.floor, inFlight: new Map(rows.map(({ workspaceId, ids }) => [workspaceId, ids])) }
}

/** The runs to look for: those after an id, and those that are named. */
type Search = { workspaceId: string; since: string; named: string[] }

// Oldest first.
async function readIds(pool: Pool, searches: readonly Search[]): Promise<Map<string, string[]>> {
  const named = searches.flatMap(({ workspaceId, named }) => named.map(id => ({ workspaceId, id })))
  const { rows } = await pool.query<{ workspaceId: string; ids: string[] }>({
    name: 'runs_since',
    text: `SELECT workspace_id AS "workspaceId", array_agg(id ORDER BY id)::text[] AS ids
           FROM (
             SELECT w.id AS workspace_id, u.id
             FROM unnest($1::uuid[], $2::uuid[]) AS w (id, since) CROSS JOIN LATERAL (
               SELECT id FROM runs WHERE workspace_id = w.id AND id > w.since ORDER BY id DESC LIMIT ${maxIds}
             ) u
             UNION SELECT u.workspace_id, u.id
             FROM unnest($3::uuid[], $4::uuid[]) AS n (workspace_id, id)
             JOIN runs u ON u.workspace_id = n.workspace_id AND u.id = n.id
           ) found GROUP BY 1`,
    values: [
      searches.map(({ workspaceId }) => workspaceId),
      searches.map(({ since }) => since),
      named.map(({ workspaceId }) => workspaceId),
      named.map(({ id }) => id),
    ],
  })
  return new Map(rows.map(({ workspaceId, ids }) => [workspaceId, ids]))
}

// Reads half of too many runs from those that took longest, and half from the newest.
async function readSome(pool: Pool, ids: Iterable<readonly [string, readonly string[]]>) {
  const some = new Map<string, SomeRuns>()
  const shown: Array<{ workspaceId: string; id: string }> = []
  for (const [workspaceId, all] of ids) {
    if (all.length === 0) continue
    const kept = all.length <= maxShown ? all : [...all.slice(0, maxShown / 2), ...all.slice(-maxShown / 2)]
    some.set(workspaceId, { runs: [], omitted: all.length - kept.length })
    shown.push(...kept.map(id => ({ workspaceId, id })))
  }
  if (shown.length === 0) return some
  const { rows } = await pool.query<RunRow>({
    name: 'runs_by_id',
    text: `SELECT ${runColumns} FROM unnest($1::uuid[], $2::uuid[]) AS n (workspace_id, id)
           JOIN runs u ON u.workspace_id = n.workspace_id AND u.id = n.id ${joinRequests} ORDER BY u.id`,
    values: [shown.map(({ workspaceId }) => workspaceId), shown.map(({ id }) => id)],
  })
  for (const run of rows) some.get(run.workspaceId)?.runs.push(run)
  return some
}

export type Listener = (news: NewRuns) => void

const intervalMs = 1_000

/** Polls all watched workspaces together once a second, independent of their number and of their listeners. */
export function createRunTails(pool: Pool, onError: (error: Error) => void) {
  const tails = new EventEmitter<Record<string, [NewRuns]>>().setMaxListeners(0)
  let stop: AbortController | undefined

  function start(): AbortController {
    const look = followRuns(pool)
    const run = async () => {
      for (const [workspaceId, news] of await look(tails.eventNames().map(String))) tails.emit(workspaceId, news)
    }
    const started = new AbortController()
    void every({ intervalMs, run, onError: error => onError(error as Error) }, started.signal)
    return started
  }

  return {
    /** Calls the listener with the new runs of a workspace until the returned function is called. */
    listen(workspaceId: string, listener: Listener): () => void {
      tails.on(workspaceId, listener)
      stop ??= start()
      return () => {
        tails.off(workspaceId, listener)
        if (tails.eventNames().length > 0) return
        stop?.abort()
        stop = undefined
      }
    },
  }
}
