import { operations } from '@belfry/contract/operations'
import type { Found, SearchResult } from '@belfry/contract/overview'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { hostOfRequest } from '@belfry/db/tasks/task-row'
import { fromId, toId } from '@belfry/domain/id'
import { type Action, decide } from '@belfry/domain/permissions'
import { endpoint } from '../endpoint.ts'
import { hasStoredRuns } from '../runs/read-runs.ts'

/** How many of the latest rows are searched. Names are not indexed, because each new task would pay for the index. */
const limits = { runs: 4_000, tasks: 1_000, cronJobs: 4_000 }
const maxOfKind = 8

const rightOf = {
  task: 'task.read',
  cron_job: 'cron_job.read',
  run: 'run.read',
  label: 'run.read',
  host: 'run.read',
  topic: 'run.read',
  queue: 'queue.read',
  secret: 'secret.read',
} as const satisfies Record<Found['kind'], Action>

export const search = endpoint(operations.search, async (ctx, { caller, query }) => {
  const { workspaceId, actor } = caller
  const mayRead = ({ kind }: Found) => decide(actor, rightOf[kind]).allowed
  const byId = await findId(ctx.pool, workspaceId, query.q.trim())
  if (byId) return { data: [byId].filter(mayRead), is_partial: false }
  const found = await searchNames(ctx.pool, workspaceId, query.q.trim())
  return {
    data: found.data.filter(mayRead),
    is_partial: found.is_partial || (await hasStoredRuns(ctx, workspaceId)),
  }
})

type Named = { id: string; name: string; at: Date }

// The statements that find an object by its id.
const byIdText = {
  task: `SELECT t.id, r.name, t.created_at AS at FROM tasks t JOIN task_requests r ON r.task_id = t.id
         WHERE t.workspace_id = $1 AND t.id = $2`,
  cron: 'SELECT id, name, created_at AS at FROM cron_jobs WHERE workspace_id = $1 AND id = $2',
  run: `SELECT u.id, r.name, u.started_at AS at FROM runs u JOIN task_requests r ON r.task_id = u.task_id
        WHERE u.workspace_id = $1 AND u.id = $2`,
}

async function findId(db: Db, workspaceId: string, text: string): Promise<Found | null> {
  for (const kind of ['task', 'cron', 'run'] as const) {
    const id = fromId(kind, text)
    if (id === null) continue
    const [found] = (await db.query<Named>(byIdText[kind], [workspaceId, id])).rows
    if (!found) return null
    const { name, at } = found
    return { kind: kind === 'cron' ? 'cron_job' : kind, id: toId(kind, id), name, count: 1, at: at.toISOString() }
  }
  return null
}

type Row = {
  isPartial: boolean
  /** Null when nothing was found, and so are the rest. */
  kind: Exclude<Found['kind'], 'run'> | null
  /** Of the latest task or the cron job; null for queues and secrets. */
  id: string | null
  name: string
  count: number
  at: Date | null
}

// Tasks that are counted of a label that is written in full.
const maxLabelled = 1_000

/**
 * Searches the names, labels, hosts and topics of the latest runs and waiting tasks, and the names of the latest cron jobs, of
 * queues and of secrets. A label that is written in full has an index, and is found on tasks of any age.
 */
export async function searchNames(db: Db, workspaceId: string, text: string, max = limits): Promise<SearchResult> {
  const waiting = ['pending', 'retrying', 'processing'].map(
    state => `(SELECT id FROM tasks WHERE workspace_id = $1 AND state BETWEEN '${state}' AND '${state}'
               ORDER BY state, id DESC LIMIT $4)`,
  )
  const isMatch = (column: string) => `position(lower($2) IN lower(${column})) > 0`
  const statement = `
    WITH latest AS MATERIALIZED (SELECT task_id AS id FROM runs WHERE workspace_id = $1 ORDER BY id DESC LIMIT $3),
    waiting AS MATERIALIZED (${waiting.join(' UNION ALL ')}),
    recent AS MATERIALIZED (
      SELECT r.task_id AS id, r.name, ${hostOfRequest} AS host, r.topic, r.labels
      FROM (SELECT id FROM latest UNION SELECT id FROM waiting) one JOIN task_requests r ON r.task_id = one.id
    ),
    jobs AS MATERIALIZED (
      SELECT id, name FROM cron_jobs WHERE workspace_id = $1 ORDER BY id DESC LIMIT $5
    ),
    found AS (
      SELECT 'task' AS kind, id, name FROM recent WHERE ${isMatch('name')}
      UNION ALL SELECT 'host', id, host FROM recent WHERE ${isMatch('host')}
      UNION ALL SELECT 'topic', id, topic FROM recent WHERE ${isMatch('topic')}
      UNION ALL SELECT 'label', id, label FROM recent, unnest(labels) AS l (label) WHERE label <> $2 AND ${isMatch('label')}
      UNION ALL (
        SELECT 'label', task_id, label FROM task_labels
        WHERE workspace_id = $1 AND label BETWEEN $2 AND $2 ORDER BY label DESC, task_id DESC LIMIT ${maxLabelled}
      )
    ),
    grouped AS (
      SELECT kind, name, (array_agg(id ORDER BY id DESC))[1] AS id, count(*)::int AS count FROM found GROUP BY 1, 2
      UNION ALL SELECT 'cron_job', name, id, 1 FROM jobs WHERE ${isMatch('name')}
      UNION ALL SELECT 'queue', name, NULL, 1 FROM queues WHERE workspace_id = $1 AND ${isMatch('name')}
      UNION ALL SELECT 'secret', name, NULL, 1 FROM secrets WHERE workspace_id = $1 AND ${isMatch('name')}
    ),
    ranked AS (SELECT *, row_number() OVER (PARTITION BY kind ORDER BY id DESC, name) AS rank FROM grouped),
    extent AS (
      SELECT (SELECT count(*) FROM latest) >= $3 OR (SELECT count(*) FROM waiting) >= $4
             OR (SELECT count(*) FROM jobs) >= $5 AS is_partial
    )
    SELECT is_partial AS "isPartial", kind, id, name, count, uuid_v7_time(id) AS at
    FROM extent LEFT JOIN ranked ON rank <= ${maxOfKind} ORDER BY kind, rank`
  const values = [workspaceId, text, max.runs, max.tasks, max.cronJobs]
  const { rows } = await db.query<Row>(statement, values)
  return { data: rows.flatMap(present), is_partial: rows[0]?.isPartial ?? false }
}

function present({ kind, id, name, count, at }: Row): Found[] {
  if (kind === null) return []
  const idKind = kind === 'task' ? 'task' : kind === 'cron_job' ? 'cron' : null
  const publicId = idKind && id && toId(idKind, id)
  return [{ kind, id: publicId, name, count, at: at?.toISOString() ?? null }]
}
