import type { RunStatus, TaskState } from './generated/enums.ts'
import type { Pool } from './pool.ts'
import { valuesOf } from './statement-rows.ts'

/** How an attempt ended, and what becomes of its task. */
export type FinishedAttempt = {
  taskId: string
  runId: string
  /** The task's next state. */
  state: Extract<TaskState, 'success' | 'retrying' | 'dead'>
  /** Until the next attempt, when `retrying`. */
  retryDelayMs: number | null
  status: RunStatus
  scheduledAt: Date
  startedAt: Date
  finishedAt: Date
  requestHeaders: string
  responseStatus: number | null
  responseHeaders: string | null
  responseBody: Buffer | null
  responseBytes: number | null
  responseTruncated: boolean
  errorCode: string | null
  errorMessage: string | null
}

/** If the task is retrying, `dueAt` is when it is due again, and `now` what time it is, both by the database's clock. */
export type RecordedAttempt = { taskId: string } & ({ dueAt: Date; now: Date } | { dueAt: null; now: null })

export const recordColumns = [
  ...['uuid', 'uuid', 'task_state', 'task_state', 'float8', 'run_status', 'float8', 'float8', 'float8'],
  ...['text', 'smallint', 'text', 'bytea', 'int', 'boolean', 'text', 'text'],
]

/**
 * Stores the runs of finished attempts and moves their tasks, in one statement. Fenced by the run's id: an attempt whose
 * task has been taken over since changes nothing and gets null.
 */
export async function recordAttempts(
  pool: Pool,
  attempts: readonly FinishedAttempt[],
): Promise<Array<RecordedAttempt | null>> {
  // Tasks of one time lie together, so in the order of their ids their pages are read one after the other.
  const sorted = attempts.toSorted((one, other) => (one.taskId < other.taskId ? -1 : 1))
  const { name, values, params } = valuesOf('record_attempts', recordColumns, sorted.map(toRow))
  const { rows } = await pool.query<RecordedAttempt>({ name, text: recordStatement(values), values: params })
  const byId = new Map(rows.map(row => [row.taskId, row]))
  return attempts.map(attempt => byId.get(attempt.taskId) ?? null)
}

function toRow(attempt: FinishedAttempt): unknown[] {
  return [
    attempt.taskId,
    attempt.runId,
    'processing',
    attempt.state,
    attempt.retryDelayMs,
    attempt.status,
    attempt.scheduledAt.getTime(),
    attempt.startedAt.getTime(),
    attempt.finishedAt.getTime(),
    attempt.requestHeaders,
    attempt.responseStatus,
    attempt.responseHeaders,
    attempt.responseBody,
    attempt.responseBytes,
    attempt.responseTruncated,
    attempt.errorCode,
    attempt.errorMessage,
  ]
}

/** The topic of a task, read for events only: the others have none. */
export function topicOf(alias: string): string {
  return `CASE WHEN ${alias}.source = 'event' THEN (SELECT r.topic FROM task_requests r WHERE r.task_id = ${alias}.id) END`
}

// Times travel as milliseconds since 1970: texts are dear to write and dearer to read.
//
// The state that is moved from travels as a column of the input: as a constant, stale statistics ("no task is
// processing") would make the planner start from the whole table. What is stored is carried along with the moved task,
// not joined again: the join would take time with the square of the rows.
export function recordStatement(values: string): string {
  return `
    WITH input (task_id, run_id, from_state, to_state, retry_delay_ms, status, scheduled_at, started_at, finished_at,
                request_headers, response_status, response_headers, response_body, response_bytes, response_truncated,
                error_code, error_message) AS (VALUES ${values}),
    moved AS (
      UPDATE tasks t
      SET state = i.to_state, lease_until = NULL, updated_at = now(),
          due_at = CASE i.to_state WHEN 'retrying' THEN clock_timestamp() + i.retry_delay_ms * interval '1 millisecond'
                                   ELSE t.due_at END,
          finished_at = CASE i.to_state WHEN 'retrying' THEN NULL ELSE now() END
      FROM input i
      WHERE t.id = i.task_id AND t.run_id = i.run_id AND t.state = i.from_state
      RETURNING i.*, t.id, t.workspace_id, t.source, t.attempts, t.due_at, t.cron_job_id
    ),
    stored AS (
      INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                        request_headers, response_status, response_headers, response_body, response_bytes,
                        response_truncated, error_code, error_message, cron_job_id, topic)
      SELECT run_id, workspace_id, id, attempts, source, status,
             to_timestamp(scheduled_at / 1000), to_timestamp(started_at / 1000), to_timestamp(finished_at / 1000),
             request_headers, response_status, response_headers, response_body, response_bytes,
             response_truncated, error_code, error_message, cron_job_id, ${topicOf('moved')}
      FROM moved
    ),
    noted AS (
      INSERT INTO usage_changes (workspace_id, storage_bytes, failed)
      SELECT workspace_id, coalesce(sum(octet_length(response_body)), 0), count(*) FILTER (WHERE to_state = 'dead')
      FROM moved WHERE octet_length(response_body) > 0 OR to_state = 'dead' GROUP BY workspace_id
    )
    SELECT id AS "taskId", CASE to_state WHEN 'retrying' THEN due_at END AS "dueAt",
           CASE to_state WHEN 'retrying' THEN clock_timestamp() END AS now
    FROM moved`
}
