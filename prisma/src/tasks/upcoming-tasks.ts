import { queryInIndexOrder } from '../postgres/in-index-order.ts'
import type { Pool } from '../postgres/pool.ts'
import type { WaitingRow } from './due-work.ts'
import { isWaiting, originOf } from './task-row.ts'
import { isOfShare, type TaskShare } from './task-share.ts'

/** Waiting tasks of one share, due after the task `after` and not later than `until`. */
export type UpcomingQuery = {
  after: { dueAt: Date; id: string }
  until: Date
  share: TaskShare
  limit: number
}

/** Reads waiting tasks in order of time from the index of due work, for dispatchers without a queue. */
export async function upcomingTasks(pool: Pool, { after, until, share, limit }: UpcomingQuery): Promise<WaitingRow[]> {
  const values = [after.dueAt, after.id, until, limit, share.index, share.of]
  return queryInIndexOrder(pool, { name: 'upcoming_tasks', text: upcomingStatement, values })
}

const upcomingStatement = `
  SELECT t.id, t.due_at AS "dueAt", t.workspace_id AS "workspaceId", ${originOf('r.url')} AS origin
  FROM (
    SELECT id, due_at, workspace_id FROM tasks
    WHERE ${isWaiting} AND (due_at, id) > ($1::timestamptz, $2::uuid) AND due_at <= $3::timestamptz
      AND ${isOfShare('id', '$5::int', '$6::int')}
    ORDER BY due_at, id LIMIT $4
  ) t JOIN task_requests r ON r.task_id = t.id
  ORDER BY t.due_at, t.id`
