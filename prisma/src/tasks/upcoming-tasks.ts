import { queryInIndexOrder } from '../postgres/in-index-order.ts'
import type { Pool } from '../postgres/pool.ts'
import type { WaitingRow } from './due-work.ts'
import { isWaiting, originOf } from './task-row.ts'
import { isOfShare, type TaskShare } from './task-share.ts'

/** Waiting tasks due from `after` on, without the task at it, to `until` inclusive: those of one share, in order of time. */
export type UpcomingQuery = {
  after: { dueAt: Date; id: string }
  until: Date
  share: TaskShare
  limit: number
}

/** Reads tasks straight from the index of due work, for dispatchers that no queue brings them to. */
export async function upcomingTasks(pool: Pool, { after, until, share, limit }: UpcomingQuery): Promise<WaitingRow[]> {
  const values = [after.dueAt.toISOString(), after.id, until.toISOString(), limit, share.index, share.of]
  return queryInIndexOrder(pool, { name: 'upcoming_tasks', text: upcomingStatement, values })
}

export const upcomingStatement = `
  SELECT t.id, t.due_at AS "dueAt", t.workspace_id AS "workspaceId", ${originOf('r.url')} AS origin
  FROM (
    SELECT id, due_at, workspace_id FROM tasks
    WHERE ${isWaiting} AND (due_at, id) > ($1::timestamptz, $2::uuid) AND due_at <= $3::timestamptz
      AND ${isOfShare('id', '$5::int', '$6::int')}
    ORDER BY due_at, id LIMIT $4
  ) t JOIN task_requests r ON r.task_id = t.id
  ORDER BY t.due_at, t.id`
