import { waitFor } from '@belfry/test-support/wait-for'
import { type Database, readValue } from './database.ts'

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

/** A task that is in PostgreSQL and in no queue. */
export type StoredTask = { id: string; dueAt: Date; workspaceId: string }

/**
 * Stores tasks as if the API had created one in each millisecond until now. One statement inserts them; the scheduler
 * does not notice. With ids of the same millisecond the tasks would lie in random order, each on another page.
 */
export async function storeTasks({ pool }: Database, tasks: NewTasks): Promise<StoredTask[]> {
  const { rows } = await pool.query<StoredTask>(
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
  await pool.query('ANALYZE tasks, task_requests')
  return rows
}

/** Returns when the first and the last of the tasks are due. */
export function dueTimes(tasks: readonly StoredTask[]): { first: Date; last: Date } {
  const times = tasks.map(({ dueAt }) => dueAt.getTime())
  return { first: new Date(Math.min(...times)), last: new Date(Math.max(...times)) }
}

/** Makes the scheduler look for stored tasks, and waits until it has added all of them to the queue. */
export async function promote(database: Database, tasks: readonly StoredTask[]): Promise<void> {
  const { first, last } = dueTimes(tasks)
  await database.pool.query('UPDATE promotion SET watermark = least(watermark, $1)', [first])
  const isDone = () => readValue<boolean>(database, 'SELECT watermark > $1 FROM promotion', [last])
  await waitFor(isDone, done => done, 60_000)
}

/** Deletes tasks that wait. Jobs that name them have no effect. */
export async function forgetTasks({ pool }: Database, tasks: readonly StoredTask[]): Promise<void> {
  const ids = tasks.map(({ id }) => id)
  await pool.query('DELETE FROM tasks WHERE id = ANY($1)', [ids])
  await pool.query('DELETE FROM task_requests WHERE task_id = ANY($1)', [ids])
}

/** Waits until all of the tasks have succeeded, and requires exactly one run of each. */
export async function requireRecorded(database: Database, tasks: readonly StoredTask[]): Promise<void> {
  const count = (text: string) => readValue<number>(database, text, [tasks.map(({ id }) => id)])
  const succeeded = `SELECT count(*)::int FROM tasks WHERE id = ANY($1) AND state = 'success'`
  await waitFor(
    () => count(succeeded),
    value => value === tasks.length,
    60_000,
  )
  const runs = await count(`SELECT count(*)::int FROM runs WHERE task_id = ANY($1) AND status = 'success'`)
  if (runs !== tasks.length) throw new Error(`${tasks.length} tasks have ${runs} runs.`)
}

/** Waits until a database without other runs has this many successful ones, and requires that it has no more. */
export async function requireRuns(database: Database, expected: number): Promise<void> {
  const count = () => readValue<number>(database, `SELECT count(*)::int FROM runs WHERE status = 'success'`)
  const runs = await waitFor(count, value => value >= expected, 60_000)
  if (runs !== expected) throw new Error(`${expected} calls have ${runs} runs.`)
}
