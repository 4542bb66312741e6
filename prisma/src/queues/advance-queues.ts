import type { Db } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

// Both bound the duration of a statement, and of the locks that it holds.
const maxMoves = 500
const queuesPerStatement = 20
const walkedPerRound = 2_000

/**
 * Makes the next blocked tasks of queues due, as many as may start, and notifies the dispatchers of them. Call it when a
 * permit may be free: after a record, an undo, a loss, a cancellation, or a change of the queue. The claim decides again.
 * @returns How many tasks are due now.
 */
export async function advanceQueues(db: Db, ids: readonly string[]): Promise<number> {
  const text = 'SELECT advance_queues($1::uuid[], $2::int)::int AS moved'
  let moved = 0
  for (let i = 0; i < ids.length; i += queuesPerStatement) {
    const values = [ids.slice(i, i + queuesPerStatement), maxMoves]
    const { rows } = await db.query<{ moved: number }>({ name: 'advance_queues', text, values })
    moved += rows[0]?.moved ?? 0
  }
  return moved
}

/** Advances the queues of tasks. Tasks without a queue cost one index lookup. */
export async function advanceQueuesOf(db: Db, taskIds: readonly string[]): Promise<number> {
  return advanceQueues(db, await queuesOf(db, taskIds))
}

export async function queuesOf(db: Db, taskIds: readonly string[]): Promise<string[]> {
  const text = 'SELECT DISTINCT queue_id AS id FROM tasks WHERE id = ANY ($1::uuid[]) AND queue_id IS NOT NULL'
  const { rows } = await db.query<{ id: string }>({ name: 'queues_of_tasks', text, values: [taskIds] })
  return rows.map(({ id }) => id)
}

export const ratedQueues = 'SELECT id FROM queues WHERE advance_at <= clock_timestamp()'

/** Advances the queues whose rate limit has a permit now, or that were resumed with many tasks. Returns how many. */
export async function advanceRatedQueues(pool: Pool, limit: number): Promise<number> {
  const text = `${ratedQueues} ORDER BY advance_at LIMIT $1`
  const { rows } = await pool.query<{ id: string }>({ name: 'rated_queues', text, values: [limit] })
  const ids = rows.map(({ id }) => id)
  await advanceQueues(pool, ids)
  return ids.length
}

/**
 * Opens the search for queues whose wake-up was lost, because a process died between two statements. Each call checks the
 * next 2,000 queues, and costs the same however many tasks they block.
 * @returns How many of them block tasks.
 */
export function openQueueSearch(pool: Pool): () => Promise<number> {
  let cursor = '00000000-0000-0000-0000-000000000000'
  const text = `
    SELECT q.id, q.paused_at IS NULL AND EXISTS (
             SELECT FROM tasks t WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1
             OFFSET 0
           ) AS "isBlocked"
    FROM (SELECT id, paused_at FROM queues WHERE id > $1 ORDER BY id LIMIT ${walkedPerRound}) q ORDER BY q.id`
  return async () => {
    const { rows } = await pool.query<{ id: string; isBlocked: boolean }>({
      name: 'search_queues',
      text,
      values: [cursor],
    })
    cursor = rows.length < walkedPerRound ? '00000000-0000-0000-0000-000000000000' : (rows.at(-1)?.id ?? cursor)
    const blocked = rows.flatMap(({ id, isBlocked }) => (isBlocked ? [id] : []))
    await advanceQueues(pool, blocked)
    return blocked.length
  }
}
