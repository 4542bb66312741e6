import type { Db } from '@belfry/db/postgres/in-transaction'
import { waitsForTime } from '@belfry/db/tasks/task-row'
import { toId } from '@belfry/domain/id'
import { type Span, spanValues } from './span.ts'

/** A task that is due soon, or an occurrence of a cron job that is not a task yet. */
export type NextUp = { atMs: number; taskId: string | null; cronJobId: string | null; name: string }

const maxInBucket = 2_000
const isWaiting = `t.workspace_id = $1 AND ${waitsForTime}`

/** Counts the waiting tasks that are due in each bucket, up to a maximum in each. */
export async function countDueTasks(
  db: Db,
  workspaceId: string,
  span: Span,
  max: number = maxInBucket,
): Promise<{ counts: number[]; isCapped: boolean }> {
  const text = `
    SELECT due.counted::int AS counted FROM generate_series(0, $4::int - 1) AS step (n)
    CROSS JOIN LATERAL (
      SELECT count(*) AS counted FROM (
        SELECT FROM tasks t WHERE ${isWaiting} AND t.due_at >= $2::timestamptz + step.n * $3::interval
          AND t.due_at < $2::timestamptz + (step.n + 1) * $3::interval LIMIT $5
      ) found
    ) due ORDER BY step.n`
  const values = [workspaceId, ...spanValues(span), span.count, max]
  const { rows } = await db.query<{ counted: number }>(text, values)
  const counts = rows.map(({ counted }) => counted)
  return { counts, isCapped: counts.some(count => count === max) }
}

/** Finds the waiting tasks that are due first from a time on. */
export async function findDueTasks(db: Db, workspaceId: string, fromMs: number, max: number): Promise<NextUp[]> {
  const text = `
    SELECT t.id, t.cron_job_id AS "cronJobId", t.due_at AS "dueAt", r.name
    FROM tasks t JOIN task_requests r ON r.task_id = t.id
    WHERE ${isWaiting} AND t.due_at >= $2 ORDER BY t.due_at, t.id LIMIT $3`
  type Row = { id: string; cronJobId: string | null; dueAt: Date; name: string }
  const { rows } = await db.query<Row>(text, [workspaceId, new Date(fromMs), max])
  return rows.map(({ id, cronJobId, dueAt, name }) => ({
    atMs: dueAt.getTime(),
    taskId: toId('task', id),
    cronJobId: cronJobId === null ? null : toId('cron', cronJobId),
    name,
  }))
}
