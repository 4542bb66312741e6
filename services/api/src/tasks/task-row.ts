import type { Db } from '@belfry/db/postgres/in-transaction'
import { AppError } from '@belfry/domain/app-error'
import { toTaskRow } from '@belfry/present/stored-rows'
import type { TaskRow } from '@belfry/present/task-row'
import type { Context } from '../context.ts'
import { notFound } from '../http/refusals.ts'
import { findStoredTask } from '../runs/read-parts.ts'

/** Selects tasks. The caller appends conditions: `t` is the task, `r` its request. */
export const selectTasks = `
  SELECT t.id, t.workspace_id AS "workspaceId", t.source, t.state, t.state_reason AS "stateReason", t.attempts,
         t.execute_at AS "executeAt", t.due_at AS "dueAt", t.cron_job_id AS "cronJobId", t.event_id AS "eventId",
         t.callback_of AS "callbackOf", t.replay_of AS "replayOf", t.created_at AS "createdAt", t.updated_at AS "updatedAt",
         t.finished_at AS "finishedAt", r.name, r.url, r.method, r.headers, r.payload, r.is_report AS "isReport",
         r.content_type AS "contentType", r.callbacks, r.retry_delays AS "retryDelays",
         r.max_retries AS "maxRetries",
         r.backoff, r.base_delay_ms AS "baseDelayMs", r.max_delay_ms AS "maxDelayMs", r.timeout_ms AS "timeoutMs",
         r.topic, r.queue, r.labels, r.qstash, r.connection, t.expires_at AS "expiresAt", t.key,
         r.created_by AS "createdBy", r.updated_by AS "updatedBy", t.waits_for AS "waitsFor",
         last.id AS "lastRunId", last.status AS "lastRunStatus",
         last.response_status AS "lastRunResponseStatus", last.error_code AS "lastRunErrorCode",
         last.finished_at AS "lastRunFinishedAt"
  FROM tasks t JOIN task_requests r ON r.task_id = t.id
  LEFT JOIN LATERAL (
    -- A run is younger than its task, so the bound on the id skips older partitions.
    SELECT id, status, response_status, error_code, finished_at FROM runs
    WHERE runs.task_id = t.id AND runs.id >= uuid_v7_floor(t.created_at)
    ORDER BY runs.id DESC LIMIT 1
  ) last ON t.attempts > 0`

/** Reads one task of a workspace. */
export async function findTask(db: Db, workspaceId: string, taskId: string): Promise<TaskRow | undefined> {
  const text = `${selectTasks} WHERE t.id = $1 AND t.workspace_id = $2`
  const { rows } = await db.query<TaskRow>({ name: 'find_task', text, values: [taskId, workspaceId] })
  return rows[0]
}

/** Reads tasks of a workspace, in any order. */
export async function findTaskRows(db: Db, workspaceId: string, taskIds: readonly string[]): Promise<TaskRow[]> {
  const text = `${selectTasks} WHERE t.id = ANY ($1::uuid[]) AND t.workspace_id = $2`
  return (await db.query<TaskRow>({ name: 'find_tasks', text, values: [taskIds, workspaceId] })).rows
}

/** Reads a task from object storage. It is not restored. */
export async function findMovedTask(ctx: Context, workspaceId: string, taskId: string): Promise<TaskRow> {
  const { last, isComplete } = await findStoredTask(ctx, workspaceId, taskId)
  if (!last?.task) throw isComplete ? notFound() : new AppError('not_found', unsearched)
  return toTaskRow({ ...last, task: last.task })
}

const unsearched =
  'No such task in PostgreSQL, or in the first parts of object storage that may have it. GET /runs?task_id= searches further.'
