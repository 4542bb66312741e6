import type { Db } from '../postgres/in-transaction.ts'

export type BusyQueue = {
  workspaceId: string
  name: string
  waiting: number
  inFlight: number
  oldestDueSeconds: number
}

// Bounds the reading when hundreds of thousands of tasks are blocked.
const maxRead = 50_000

/** Finds the queues with the most blocked tasks among the first 50,000, at most `limit` of them. */
export async function busiestQueues(db: Db, limit: number): Promise<BusyQueue[]> {
  const text = `
    WITH busiest AS (
      SELECT queue_id, count(*)::int AS waiting FROM (
        SELECT queue_id FROM tasks t
        WHERE queue_id IS NOT NULL AND finished_at IS NULL AND queue_phase(state, waits_for) = 1 LIMIT ${maxRead}
      ) read GROUP BY queue_id ORDER BY 2 DESC LIMIT $1
    )
    SELECT q.workspace_id AS "workspaceId", q.name, b.waiting,
           (SELECT count(*)::int FROM tasks t
            WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 2) AS "inFlight",
           (SELECT extract(epoch FROM now() - t.execute_at)::float8 FROM tasks t
            WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1
            ORDER BY t.execute_at, t.id LIMIT 1) AS "oldestDueSeconds"
    FROM busiest b JOIN queues q ON q.id = b.queue_id ORDER BY b.waiting DESC, q.name`
  return (await db.query<BusyQueue>({ name: 'busiest_queues', text, values: [limit] })).rows
}
