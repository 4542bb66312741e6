import { fromId, originOfUrl, toId } from '@belfry/domain'
import { waitFor } from '@belfry/test-support/wait-for'
import { type Database, readRow } from './database.ts'

/** The body that every side sends: about 1 KB of JSON. */
export const payload = JSON.stringify({
  order: 4711,
  customer: { id: 'c_81f0', name: 'Ada Lovelace', tags: ['new', 'newsletter'] },
  lines: Array.from({ length: 12 }, (_, i) => {
    return { sku: `SKU-${1000 + i}`, quantity: i + 1, price: 19.9, note: 'gift wrap' }
  }),
})

export type NewTasks = {
  count: number
  url: string
  /** From now to the first of them. */
  dueInMs: number
  /** From each to the next. Default 0: all at the same time. */
  apartMs?: number
  /** Whether each calls its own address, which ends in its due time. Default false. */
  named?: boolean
}

/** Tasks that are in PostgreSQL and in no queue. */
export type StoredTasks = {
  tasks: Array<{ id: string; dueAt: number; workspace: string; origin: string }>
  firstDueAt: Date
}

/**
 * Stores tasks as if the API had created one in each millisecond until now. One statement inserts them; the scheduler
 * does not notice. With ids of the same millisecond the tasks would lie in random order, each on another page.
 */
export async function storeTasks({ pool }: Database, tasks: NewTasks): Promise<StoredTasks> {
  const { rows } = await pool.query<{ id: string; dueAt: Date; workspaceId: string }>(
    `WITH homes AS (SELECT array_agg(id) AS ids FROM workspaces),
     input AS MATERIALIZED (
       SELECT uuid_v7(now() - ($1::int - n) * interval '1 ms') AS id,
              homes.ids[1 + n % array_length(homes.ids, 1)] AS workspace_id,
              (now() + ($2::float8 + n * $3::float8) * interval '1 ms')::timestamptz(3) AS due_at
       FROM homes, generate_series(0, $1::int - 1) n
     ),
     requests AS (
       INSERT INTO task_requests (task_id, name, url, method, headers, payload,
                                  max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
       SELECT id, 'Bench', $4 || CASE WHEN $5 THEN (extract(epoch FROM due_at) * 1000)::bigint::text ELSE '' END,
              'POST', '{}', $6, 3, 'exponential', 1000, 3600000, 30000
       FROM input
     )
     INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
     SELECT id, workspace_id, 'task', due_at, due_at
     FROM input
     RETURNING id, due_at AS "dueAt", workspace_id AS "workspaceId"`,
    [tasks.count, tasks.dueInMs, tasks.apartMs ?? 0, tasks.url, tasks.named ?? false, payload],
  )
  await pool.query('ANALYZE tasks')
  await pool.query('ANALYZE task_requests')
  const origin = originOfUrl(tasks.url)
  const stored = rows.map(row => {
    return { id: toId('task', row.id), dueAt: row.dueAt.getTime(), workspace: toId('ws', row.workspaceId), origin }
  })
  return { tasks: stored, firstDueAt: new Date(Math.min(...stored.map(task => task.dueAt))) }
}

/** Makes the scheduler look for stored tasks, and waits until it has added all of them to the queue. */
export async function promote({ pool }: Database, { firstDueAt, tasks }: StoredTasks): Promise<void> {
  await pool.query(`UPDATE promotion SET watermark = least(watermark, $1)`, [firstDueAt])
  const last = new Date(tasks.reduce((latest, task) => Math.max(latest, task.dueAt), 0))
  await waitFor(
    async () => (await pool.query('SELECT FROM promotion WHERE watermark > $1', [last])).rowCount,
    count => count === 1,
    60_000,
  )
}

/** Deletes tasks that wait. Jobs that name them have no effect. */
export async function forgetTasks({ pool }: Database, { tasks }: StoredTasks): Promise<void> {
  const ids = tasks.map(task => fromId('task', task.id))
  await pool.query('DELETE FROM tasks WHERE id = ANY($1)', [ids])
  await pool.query('DELETE FROM task_requests WHERE task_id = ANY($1)', [ids])
}

/** Waits until all of the tasks have succeeded, and requires exactly one run of each. */
export async function requireRecorded(database: Database, { tasks }: StoredTasks): Promise<void> {
  const ids = tasks.map(task => fromId('task', task.id))
  const count = (text: string) => readRow<{ count: number }>(database, text, [ids])
  await waitFor(
    () => count(`SELECT count(*)::int AS count FROM tasks WHERE id = ANY($1) AND state = 'success'`),
    succeeded => succeeded.count === tasks.length,
    60_000,
  )
  const runs = await count(`SELECT count(*)::int AS count FROM runs WHERE task_id = ANY($1) AND status = 'success'`)
  if (runs.count !== tasks.length) throw new Error(`${tasks.length} tasks have ${runs.count} runs.`)
}
