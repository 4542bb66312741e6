import type { RunStatus, TaskState } from './generated/enums.ts'
import type { Pool } from './pool.ts'
import { type InputColumn, inputRows, inputValues } from './statement-input.ts'

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

export const recordInput: ReadonlyArray<InputColumn<FinishedAttempt>> = [
  ['task_id', 'uuid', ({ taskId }) => taskId],
  ['run_id', 'uuid', ({ runId }) => runId],
  ['to_state', 'task_state', ({ state }) => state],
  ['retry_delay_ms', 'float8', ({ retryDelayMs }) => retryDelayMs],
  ['status', 'run_status', ({ status }) => status],
  ['scheduled_at', 'timestamptz', ({ scheduledAt }) => scheduledAt],
  ['started_at', 'timestamptz', ({ startedAt }) => startedAt],
  ['finished_at', 'timestamptz', ({ finishedAt }) => finishedAt],
  ['request_headers', 'text', ({ requestHeaders }) => requestHeaders],
  ['response_status', 'int2', ({ responseStatus }) => responseStatus],
  ['response_headers', 'text', ({ responseHeaders }) => responseHeaders],
  ['response_body', 'bytea', ({ responseBody }) => responseBody],
  ['response_bytes', 'int4', ({ responseBytes }) => responseBytes],
  ['response_truncated', 'bool', ({ responseTruncated }) => responseTruncated],
  ['error_code', 'text', ({ errorCode }) => errorCode],
  ['error_message', 'text', ({ errorMessage }) => errorMessage],
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
  const values = inputValues(recordInput, sorted)
  const { rows } = await pool.query<RecordedAttempt>({ name: 'record_attempts', text: recordStatement, values })
  const byId = new Map(rows.map(row => [row.taskId, row]))
  return attempts.map(attempt => byId.get(attempt.taskId) ?? null)
}

/** The topic of a task, read for events only: the others have none. */
export function topicOf(alias: string): string {
  return `CASE WHEN ${alias}.source = 'event' THEN (SELECT r.topic FROM task_requests r WHERE r.task_id = ${alias}.id) END`
}

// The state that is moved from is hidden from the planner: with stale statistics ("no task is processing") it would start
// from the whole table. What is stored is carried along with the moved task, not joined again: the join would take time
// with the square of the rows.
export const recordStatement = `
    WITH input AS (${inputRows(recordInput)}),
    moved AS (
      UPDATE tasks t
      SET state = i.to_state, lease_until = NULL, updated_at = now(),
          due_at = CASE i.to_state WHEN 'retrying' THEN clock_timestamp() + i.retry_delay_ms * interval '1 millisecond'
                                   ELSE t.due_at END,
          finished_at = CASE i.to_state WHEN 'retrying' THEN NULL ELSE now() END
      FROM input i
      WHERE t.id = i.task_id AND t.run_id = i.run_id AND t.state = (SELECT 'processing'::task_state)
      RETURNING i.*, t.id, t.workspace_id, t.source, t.attempts, t.due_at, t.cron_job_id
    ),
    stored AS (
      INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                        request_headers, response_status, response_headers, response_body, response_bytes,
                        response_truncated, error_code, error_message, cron_job_id, topic)
      SELECT run_id, workspace_id, id, attempts, source, status, scheduled_at, started_at, finished_at,
             request_headers, response_status, response_headers, response_body, response_bytes, response_truncated,
             error_code, error_message, cron_job_id, ${topicOf('moved')}
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
