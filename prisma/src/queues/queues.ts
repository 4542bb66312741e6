import type { Queue } from '../generated/client.ts'
import type { Db, Transaction } from '../postgres/in-transaction.ts'
import { queueIdOf } from './queue-sql.ts'

/** The limits of a queue; null means unlimited. */
export type QueueLimits = {
  maxConcurrent: number | null
  /** At most `count` attempts start within any period of this length. */
  rateLimit: { count: number; periodMs: number } | null
  /** Whether its tasks run one at a time in the order of their times. */
  ordered: boolean
}

export type StoredLimits = Pick<Queue, 'maxConcurrent' | 'rateCount' | 'ratePeriodMs' | 'ordered'>

/** A queue with what it contains now. `waiting` counts at most `maxCountedInQueue` due tasks. */
export type QueueRow = StoredLimits &
  Pick<Queue, 'id' | 'name' | 'pausedAt' | 'createdAt' | 'updatedAt'> & {
    waiting: number
    inFlight: number
    /** For how long the task that has waited the longest is due, in milliseconds; null while the queue is empty. */
    oldestDueMs: number | null
  }

const maxCountedInQueue = 10_000

export const maxQueues = 1_000

/** Reads the limits of queues by their names. `pinned` has the limits, as the API names them, that no task changes. */
export async function findQueueLimits(db: Db, workspaceId: string, names: readonly string[]) {
  const text = `
    SELECT name, max_concurrent AS "maxConcurrent", rate_count AS "rateCount", rate_period_ms AS "ratePeriodMs", ordered,
           array_remove(ARRAY[CASE WHEN pinned_concurrency THEN 'max_concurrent' END,
                              CASE WHEN pinned_rate THEN 'rate_limit' END], NULL) AS pinned
    FROM queues WHERE workspace_id = $1::uuid AND name = ANY ($2::text[])`
  const query = { name: 'find_queue_limits', text, values: [workspaceId, names] }
  const { rows } = await db.query<StoredLimits & { name: string; pinned: string[] }>(query)
  return new Map(rows.map(row => [row.name, row]))
}

/**
 * Creates a queue if it does not exist, and sets the given limits. The last writer wins. `advanceQueues` must follow.
 * @returns Its id; null when the workspace has `maxQueues` others.
 */
export async function nameQueue(tx: Transaction, workspaceId: string, name: string, limits: Partial<QueueLimits> = {}) {
  // The lock keeps concurrent creations within the maximum, and transactions that name several queues from deadlocks.
  await tx.query('SELECT FROM workspaces WHERE id = $1::uuid FOR NO KEY UPDATE', [workspaceId])
  const values = [workspaceId, name, ...valuesOf(limits)]
  const { rows } = await tx.query<{ id: string }>({ name: 'name_queue', text: nameStatement, values })
  return rows[0]?.id ?? null
}

/** Sets the given limits of a queue that exists. Returns its id; null when the workspace has no such queue. */
export async function changeQueue(db: Db, workspaceId: string, name: string, limits: Partial<QueueLimits>) {
  const text = `UPDATE queues AS q SET ${newLimits} WHERE workspace_id = $1 AND name = $2 RETURNING id`
  const values = [workspaceId, name, ...valuesOf(limits)]
  const { rows } = await db.query<{ id: string }>({ name: 'change_queue', text, values })
  return rows[0]?.id ?? null
}

/**
 * Pauses a queue, or resumes it. When a pause resolves, the tasks of the queue cannot be claimed any more, because each
 * claim locks the queue. Only claims of a queue without a limit that ran at the same time, and prefetched ones, may
 * still start within a second.
 * @returns Its id, and whether that changed something; null when the workspace has no such queue.
 */
export async function pauseQueue(db: Db, workspaceId: string, name: string, isPaused: boolean) {
  const text = `
    UPDATE queues q SET paused_at = CASE WHEN $3 THEN coalesce(q.paused_at, now()) END, updated_at = now()
    FROM queues o WHERE q.workspace_id = $1 AND q.name = $2 AND o.id = q.id
    RETURNING q.id, (o.paused_at IS NULL) = $3 AS "isChanged"`
  const values = [workspaceId, name, isPaused]
  const { rows } = await db.query<{ id: string; isChanged: boolean }>({ name: 'pause_queue', text, values })
  return rows[0] ?? null
}

/** `named`: a cron job or a subscription names it. `has_tasks`: it has unfinished tasks. */
export type QueueDeletion = 'deleted' | 'named' | 'has_tasks' | 'unknown'

/**
 * Deletes the settings of a queue that is not in use. Finished tasks keep its name.
 * @param mayRun - Whether attempts may be in flight. Their tasks are then unlimited. Default: false.
 */
export async function deleteQueue(
  db: Db,
  workspaceId: string,
  name: string,
  { mayRun = false }: { mayRun?: boolean } = {},
): Promise<QueueDeletion> {
  const text = `
    WITH queue AS (
      SELECT q.id, EXISTS (SELECT FROM cron_jobs j WHERE j.workspace_id = $1 AND j.queue = $2)
                OR EXISTS (SELECT FROM subscriptions s WHERE s.workspace_id = $1 AND s.queue = $2) AS is_named,
             EXISTS (SELECT FROM tasks t WHERE t.queue_id = q.id AND t.finished_at IS NULL
                     AND NOT ($3::boolean AND t.state = 'processing')) AS has_tasks
      FROM queues q WHERE q.workspace_id = $1 AND q.name = $2 FOR UPDATE
    ),
    deleted AS (DELETE FROM queues q USING queue WHERE q.id = queue.id AND NOT queue.is_named AND NOT queue.has_tasks)
    SELECT CASE WHEN is_named THEN 'named' WHEN has_tasks THEN 'has_tasks' ELSE 'deleted' END AS result FROM queue`
  const query = { name: 'delete_queue', text, values: [workspaceId, name, mayRun] }
  return (await db.query<{ result: QueueDeletion }>(query)).rows[0]?.result ?? 'unknown'
}

export async function findQueue(db: Db, workspaceId: string, name: string): Promise<QueueRow | null> {
  const text = selectQueues('WHERE workspace_id = $1 AND name = $2')
  const { rows } = await db.query<QueueRow>({ name: 'find_queue', text, values: [workspaceId, name] })
  return rows[0] ?? null
}

/** Lists the queues of a workspace by name, after a name. `prefix`: only names that start with it. Default: all. */
export async function listQueues(
  db: Db,
  workspaceId: string,
  { after, prefix = '', limit }: { after: string | undefined; prefix?: string | undefined; limit: number },
): Promise<QueueRow[]> {
  const text = selectQueues(`
    WHERE workspace_id = $1 AND ($2::text IS NULL OR name > $2) AND starts_with(name, $3) ORDER BY name LIMIT $4`)
  const values = [workspaceId, after ?? null, prefix, limit]
  return (await db.query<QueueRow>({ name: 'list_queues', text, values })).rows
}

/** Lists the paused queues of a workspace: since when, and how many due tasks wait, up to `maxCountedInQueue` each. */
export async function listPausedQueues(db: Db, workspaceId: string) {
  const text = `
    SELECT name, "pausedAt" AS since, waiting AS tasks
    FROM (${selectQueues('WHERE workspace_id = $1 AND paused_at IS NOT NULL')}) paused`
  return (await db.query<{ name: string; since: Date; tasks: number }>(text, [workspaceId])).rows
}

/** Counts the due tasks of a workspace that wait for their queues, up to `maxCountedInQueue` each. */
export async function countQueued(db: Db, workspaceId: string): Promise<number> {
  const text = `
    SELECT coalesce(sum(w.waiting), 0)::int AS queued FROM queues q CROSS JOIN LATERAL (
      SELECT count(*) AS waiting FROM (
        SELECT FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1 LIMIT ${maxCountedInQueue}
      ) found
    ) w WHERE q.workspace_id = $1`
  const { rows } = await db.query<{ queued: number }>({ name: 'count_queued', text, values: [workspaceId] })
  return rows[0]?.queued ?? 0
}

function valuesOf({ maxConcurrent, rateLimit, ordered }: Partial<QueueLimits>): unknown[] {
  return [
    maxConcurrent !== undefined,
    maxConcurrent ?? null,
    rateLimit !== undefined,
    rateLimit?.count ?? null,
    rateLimit?.periodMs ?? null,
    ordered ?? null,
  ]
}

// Each limit is set when the parameter before it says so.
const newLimits = `
  max_concurrent = CASE WHEN $3 THEN $4::int ELSE q.max_concurrent END,
  rate_count = CASE WHEN $5 THEN $6::int ELSE q.rate_count END,
  rate_period_ms = CASE WHEN $5 THEN $7::int ELSE q.rate_period_ms END,
  ordered = coalesce($8::boolean, q.ordered), updated_at = now()`

const nameStatement = `
  INSERT INTO queues AS q (id, workspace_id, name, max_concurrent, rate_count, rate_period_ms, ordered)
  SELECT ${queueIdOf('$1::uuid', '$2::text')}, $1::uuid, $2::text, $4::int, $6::int, $7::int, coalesce($8::boolean, false)
  WHERE EXISTS (SELECT FROM queues WHERE workspace_id = $1::uuid AND name = $2::text)
     OR (SELECT count(*) FROM queues WHERE workspace_id = $1::uuid) < ${maxQueues}
  ON CONFLICT (id) DO UPDATE SET ${newLimits}
  RETURNING q.id`

function selectQueues(condition: string): string {
  return `
    SELECT q.id, q.name, q.max_concurrent AS "maxConcurrent", q.rate_count AS "rateCount",
           q.rate_period_ms AS "ratePeriodMs", q.ordered, q.paused_at AS "pausedAt", w.waiting, f.in_flight AS "inFlight",
           (extract(epoch FROM now() - w.due_at) * 1000)::float8 AS "oldestDueMs",
           q.created_at AS "createdAt", q.updated_at AS "updatedAt"
    FROM (SELECT * FROM queues ${condition}) q
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS waiting, min(due_at) AS due_at FROM (
        (SELECT t.due_at FROM tasks t
         WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1
         ORDER BY t.execute_at, t.id LIMIT ${maxCountedInQueue})
        UNION ALL
        (SELECT t.due_at FROM tasks t
         WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 0 AND t.execute_at <= now()
           AND t.due_at <= now() LIMIT ${maxCountedInQueue})
      ) found
    ) w
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS in_flight FROM tasks t
      WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 2
    ) f
    ORDER BY q.name`
}
