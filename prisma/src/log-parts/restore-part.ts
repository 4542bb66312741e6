import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { storedRequestBytes, storedRunBytes } from '../usage/count-storage.ts'
import { type LogPart, partColumns } from './find-parts.ts'

/** Returns the stored parts of a day in UTC, `YYYY-MM-DD`: of one workspace, or of all. */
export async function partsOfDay(pool: Pool, day: string, workspaceId: string | null): Promise<LogPart[]> {
  const text = `
    SELECT ${partColumns} FROM log_parts p
    WHERE p.state = 'stored' AND p.day = $1::date AND ($2::uuid IS NULL OR p.workspace_id = $2)
    ORDER BY p.workspace_id, p.part`
  return (await pool.query<LogPart>(text, [day, workspaceId])).rows
}

/**
 * Puts the runs of a part back into PostgreSQL, with their tasks, in one transaction. They stay there for `days`, and then move
 * to object storage again.
 * @param lines - The lines of the part, each of which has a run, its request and its task.
 * @returns How many runs were restored; null when the part is not stored, for example because it was restored already.
 */
export async function restorePart(pool: Pool, { id, workspaceId }: LogPart, lines: readonly string[], days: number) {
  return inTransaction(pool, async tx => {
    const mark = `
      UPDATE log_parts p SET state = 'restored', storage_bytes = 0, restored_at = now(), hot_until = now() + $3 * interval '1 day'
      FROM log_parts before
      WHERE p.id = $1 AND p.workspace_id = $2 AND p.state = 'stored' AND before.id = p.id
      RETURNING before.storage_bytes::float8 AS bytes`
    const [part] = (await tx.query<{ bytes: number }>(mark, [id, workspaceId, days])).rows
    if (!part) return null
    const text = restoreText(await readColumns(tx, lines))
    const total = { runs: 0, bytes: -part.bytes }
    for (let at = 0; at < lines.length; at += linesAtATime) {
      const values = [workspaceId, `[${lines.slice(at, at + linesAtATime).join(',')}]`]
      const { rows } = await tx.query<{ runs: number; bytes: number }>(text, values)
      total.runs += rows[0]?.runs ?? 0
      total.bytes += rows[0]?.bytes ?? 0
    }
    // The rows count as storage from now on, and the part does not.
    const delta = 'INSERT INTO usage_changes (workspace_id, storage_bytes) VALUES ($1, $2)'
    if (total.bytes !== 0) await tx.query(delta, [workspaceId, total.bytes])
    return total.runs
  })
}

const linesAtATime = 500

type Columns = Record<'runs' | 'tasks' | 'task_requests', string>

// Columns that are newer than the part get their defaults.
async function readColumns(tx: Transaction, lines: readonly string[]): Promise<Columns> {
  const read = async (table: keyof Columns, name: string) => {
    const text = `
      SELECT string_agg(quote_ident(attname), ', ') AS columns FROM pg_attribute
      WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attname = ANY ($2::text[])`
    const line = lines.map(one => JSON.parse(one)[name]).find(value => value !== null)
    const keys = Object.keys(line ?? { workspace_id: '', task_id: '', id: '' })
    return (await tx.query<{ columns: string }>(text, [table, keys])).rows[0]?.columns ?? ''
  }
  return {
    runs: await read('runs', 'run'),
    tasks: await read('tasks', 'task'),
    task_requests: await read('task_requests', 'request'),
  }
}

// The statistics count these runs already. The trigger counts them again, and `uncounted` takes that back.
const restoreText = ({ runs, tasks, task_requests: requests }: Columns) => `
  WITH lines AS MATERIALIZED (
    SELECT line FROM jsonb_array_elements($2::jsonb) AS line WHERE line -> 'run' ->> 'workspace_id' = $1::text
  ),
  tasks_restored AS (
    INSERT INTO tasks (${tasks})
    SELECT DISTINCT ON (id) ${tasks} FROM lines, jsonb_populate_record(NULL::tasks, nullif(line -> 'task', 'null')) WHERE workspace_id = $1::uuid
    ON CONFLICT DO NOTHING RETURNING id
  ),
  requests AS (
    INSERT INTO task_requests AS r (${requests})
    SELECT DISTINCT ON (task_id) ${requests} FROM lines, jsonb_populate_record(NULL::task_requests, nullif(line -> 'request', 'null'))
    WHERE task_id IN (SELECT id FROM tasks_restored)
    ON CONFLICT DO NOTHING RETURNING r.task_id, r.labels, ${storedRequestBytes} AS bytes
  ),
  labelled AS (
    INSERT INTO task_labels (workspace_id, label, task_id)
    SELECT $1::uuid, l.label, q.task_id FROM requests q CROSS JOIN LATERAL unnest(q.labels) AS l (label) ON CONFLICT DO NOTHING
  ),
  restored AS (
    INSERT INTO runs (${runs})
    SELECT ${runs} FROM lines, jsonb_populate_record(NULL::runs, line -> 'run') WHERE workspace_id = $1::uuid
    ON CONFLICT DO NOTHING RETURNING started_at, scheduled_at, status, ${storedRunBytes} AS bytes
  ),
  uncounted AS (
    INSERT INTO run_changes (workspace_id, minute, failed, weight, lags_ms)
    SELECT $1::uuid, date_bin('1 minute', started_at, 'epoch'), status = 'failed', -1, array_agg(run_lag_ms(scheduled_at, started_at))
    FROM restored GROUP BY 2, 3
  )
  SELECT (SELECT count(*)::int FROM restored) AS runs,
         (SELECT coalesce(sum(bytes), 0)::float8 FROM (SELECT bytes FROM restored UNION ALL SELECT bytes FROM requests) counted) AS bytes`
