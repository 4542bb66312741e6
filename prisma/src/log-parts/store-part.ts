import { newUuid } from '@belfry/domain/id'
import { inTransaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { arraysOf } from '../postgres/statement-input.ts'
import { deletedRequests, storedRunBytes } from '../usage/count-storage.ts'

/** The maximum number of runs in a part, and of bytes before the compression; one run may be larger. */
export const maxPart = { runs: 10_000, bytes: 16 * 1024 * 1024 }

/** A day that has a part already gets another one only for this many runs. The others stay in PostgreSQL. */
const minLaterRuns = 100

/** A run to move to object storage, and the versions of its rows: a change of one of them keeps it in PostgreSQL. */
export type PartRun = {
  id: string
  status: string
  version: string
  taskId: string
  /** Whether this is the last run of a finished task. The task then leaves PostgreSQL with the run. */
  endsTask: boolean
  taskVersion: string | null
  /** The run, its request and its task as one JSON object. */
  line: string
}

export type NextPart = {
  /** The day in UTC as `YYYY-MM-DD`; null if all examined runs stay. */
  day: string | null
  runs: PartRun[]
  /** The run after which the search continues; null when there is no other run. */
  next: string | null
}

/**
 * Reads the next runs of a workspace to move to object storage: runs of one day, oldest first. The runs of unfinished
 * tasks and of dead letters stay.
 */
export async function readNextPart(
  pool: Pool,
  { workspaceId, hotDays, keptDays, after = null, continued = null }: PartSearch,
  max = maxPart,
): Promise<NextPart> {
  const values = [workspaceId, hotDays, keptDays, after, max.runs, max.bytes]
  const { rows } = await pool.query<Row>({ name: 'read_next_part', text: nextPartStatement, values })
  const [first] = rows
  if (!first) return { day: null, runs: [], next: null }
  const isEnd = first.examined < max.runs
  if (first.id === null) return { day: null, runs: [], next: isEnd ? null : first.last }
  const runs = withinBytes(rows as PartRow[], max.bytes)
  const next = runs.at(-1)?.id ?? null
  return first.hasPart && first.dayRuns < minLaterRuns && first.day !== continued
    ? { day: null, runs: [], next: rows.at(-1)?.id ?? null }
    : { day: first.day, runs, next }
}

export type PartSearch = {
  workspaceId: string
  /** Runs of the last days stay: full days in UTC. */
  hotDays: number
  /** Older runs are about to be deleted. */
  keptDays: number
  /** The last run that was examined. Default: null, the beginning. */
  after?: string | null
  /** A day of which the caller has just stored a part: its last runs move, however few they are. Default: null. */
  continued?: string | null
}

type PartRow = PartRun & { day: string; examined: number; dayRuns: number; hasPart: boolean; last: string }
type Row = PartRow | (Omit<PartRow, 'id'> & { id: null })

// The statement estimates the size of a line; escapes may make it longer.
function withinBytes(rows: readonly PartRow[], maxBytes: number): PartRun[] {
  let bytes = 0
  const end = rows.findIndex(({ line }, i) => {
    bytes += Buffer.byteLength(line) + 1
    return bytes > maxBytes && i > 0
  })
  return end === -1 ? [...rows] : rows.slice(0, end)
}

const dayStart = (id: string) =>
  `uuid_v7_floor(date_trunc('day', uuid_v7_time(${id}) AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')`

// The last run of a task stays while an earlier run is left behind, by an earlier day or by this search, because its task goes
// with it, and lists of that run need the request.
const nextPartStatement = `
  WITH page AS MATERIALIZED (
    SELECT u.id, u.task_id, u.status, u.xmin::text AS version, greatest($4::uuid, ${dayStart('u.id')}) AS passed,
           coalesce(octet_length(u.response_body), 0) * 2 + coalesce(octet_length(u.response_headers), 0)
             + coalesce(octet_length(u.request_headers), 0) AS bytes
    FROM runs u
    WHERE workspace_id = $1 AND id > coalesce($4::uuid, '00000000-0000-0000-0000-000000000000')
      AND id >= uuid_v7_floor(now() - $3 * interval '1 day')
      AND id < uuid_v7_floor((date_trunc('day', now() AT TIME ZONE 'UTC') - $2 * interval '1 day') AT TIME ZONE 'UTC')
    ORDER BY id LIMIT $5
  ),
  movable AS MATERIALIZED (
    SELECT page.*, t.task_version, t.run_id IS NOT DISTINCT FROM page.id AS ends_task,
           (uuid_v7_time(page.id) AT TIME ZONE 'UTC')::date AS day
    FROM page LEFT JOIN LATERAL (
      SELECT id, state, settled_at, finished_at, run_id, xmin::text AS task_version
      FROM tasks WHERE id = page.task_id AND workspace_id = $1 LIMIT 1
    ) t ON true
    WHERE (t.id IS NULL OR t.finished_at IS NOT NULL) AND (t.state = 'dead' AND t.settled_at IS NULL) IS NOT TRUE
      AND NOT EXISTS (
        SELECT FROM log_parts p WHERE p.workspace_id = $1 AND p.state = 'restored'
          AND p.day = (uuid_v7_time(page.id) AT TIME ZONE 'UTC')::date
      )
      AND NOT (
        t.run_id IS NOT DISTINCT FROM page.id
        AND EXISTS (SELECT FROM runs e WHERE e.workspace_id = $1 AND e.task_id = page.task_id AND e.id <= page.passed)
      )
  ),
  of_day AS (SELECT * FROM movable WHERE day = (SELECT day FROM movable ORDER BY id LIMIT 1)),
  sized AS (
    SELECT of_day.*, sum(bytes + 1500 + coalesce(octet_length(r.payload), 0) + coalesce(r.extra_bytes, 0)) OVER (ORDER BY id) AS total,
           row_number() OVER (ORDER BY id) AS n
    FROM of_day LEFT JOIN task_requests r ON r.task_id = of_day.task_id
  ),
  chosen AS (SELECT * FROM sized WHERE total <= $6 OR n = 1),
  found AS (
    SELECT (SELECT count(*)::int FROM page) AS examined, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last,
           (SELECT count(*)::int FROM of_day) AS "dayRuns",
           EXISTS (SELECT FROM log_parts p JOIN of_day ON of_day.day = p.day WHERE p.workspace_id = $1 AND p.state = 'stored') AS "hasPart"
  )
  SELECT found.*, chosen.id, chosen.status, chosen.version, chosen.task_id AS "taskId",
         chosen.ends_task AS "endsTask", chosen.task_version AS "taskVersion", chosen.day::text AS day,
         jsonb_build_object('run', to_jsonb(u) || jsonb_build_object('cron_job_timezone', c.timezone), 'request', to_jsonb(r), 'task', to_jsonb(t))::text AS line
  FROM found
  LEFT JOIN chosen ON true
  LEFT JOIN runs u ON u.workspace_id = $1 AND u.id = chosen.id
  LEFT JOIN cron_jobs c ON c.workspace_id = $1 AND c.id = u.cron_job_id
  LEFT JOIN task_requests r ON r.task_id = chosen.task_id
  LEFT JOIN tasks t ON t.id = chosen.task_id AND t.workspace_id = $1
  WHERE found.examined > 0
  ORDER BY chosen.id`

type PartContent = { workspaceId: string; day: string; runs: readonly PartRun[]; objectBytes: number; checksum: string }

/**
 * Records a part before its object is written, so every object has a row.
 * @param keyOf - Returns the key of the object from the id of the part.
 * @returns The id of the part and the key; null when another scheduler writes a part of the workspace.
 */
export async function startPart(
  pool: Pool,
  { workspaceId, day, runs, objectBytes, checksum }: PartContent,
  keyOf: (id: string) => string,
) {
  const id = newUuid()
  const objectKey = keyOf(id)
  const failed = runs.filter(({ status }) => status === 'failed').length
  const text = `
    INSERT INTO log_parts (id, workspace_id, day, part, object_key, first_run_id, last_run_id, first_task_id, last_task_id,
                           succeeded, failed, object_bytes, checksum)
    SELECT $1, $2, $3::date, coalesce(max(part), 0) + 1, $4, $5, $6, $7, $8, $9, $10, $11, $12
    FROM log_parts WHERE workspace_id = $2 AND day = $3::date
    ON CONFLICT DO NOTHING`
  const tasks = runs.map(({ taskId }) => taskId).sort()
  const bounds = [runs[0]?.id, runs.at(-1)?.id, tasks[0], tasks.at(-1)]
  const values = [id, workspaceId, day, objectKey, ...bounds, runs.length - failed, failed, objectBytes, checksum]
  const { rowCount } = await pool.query(text, values)
  return rowCount === 1 ? { id, objectKey } : null
}

/**
 * Deletes the runs of a written part, and the tasks that go with them, and marks the part as stored, in one transaction.
 * @returns False when a row has changed since it was read, or the part is not being written any more. Then this is
 * rolled back.
 */
export async function finishPart(pool: Pool, workspaceId: string, partId: string, runs: readonly PartRun[]) {
  const withTask = runs.filter(({ endsTask }) => endsTask)
  const versions = [...arraysOf(runs, 'id', 'version'), ...arraysOf(withTask, 'taskId', 'taskVersion')]
  const values = [workspaceId, partId, ...versions]
  return inTransaction(pool, async tx => {
    const { rows } = await tx.query<{ runs: number; tasks: number; parts: number }>(finishStatement, values)
    const done = rows[0]
    if (done?.runs === runs.length && done.tasks === withTask.length && done.parts === 1) return true
    throw new ChangedPart()
  }).catch(error => {
    if (error instanceof ChangedPart) return false
    throw error
  })
}

// Rolls the transaction back.
class ChangedPart extends Error {}

// The freed bytes are not recorded as a usage delta, because the part counts them from now on.
const finishStatement = `
  WITH deleted AS (
    DELETE FROM runs r USING unnest($3::uuid[], $4::text[]) AS read (id, version)
    WHERE r.workspace_id = $1 AND r.id = read.id AND r.xmin::text = read.version
    RETURNING ${storedRunBytes} AS bytes
  ),
  tasks_deleted AS (
    DELETE FROM tasks t USING unnest($5::uuid[], $6::text[]) AS read (id, version)
    WHERE t.workspace_id = $1 AND t.id = read.id AND t.xmin::text = read.version RETURNING t.id
  ),
  ${deletedRequests('tasks_deleted')},
  stored AS (
    UPDATE log_parts SET state = 'stored', storage_bytes =
      (SELECT coalesce(sum(bytes), 0) FROM (SELECT bytes FROM deleted UNION ALL SELECT bytes FROM requests) freed)
    WHERE id = $2 AND workspace_id = $1 AND state = 'writing' RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM deleted) AS runs, (SELECT count(*)::int FROM tasks_deleted) AS tasks,
         (SELECT count(*)::int FROM stored) AS parts`
