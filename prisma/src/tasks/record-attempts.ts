import type { RunTimings } from '@belfry/domain/run-timings'
import { lateMs, type WaitReason } from '@belfry/domain/wait-reason'
import type { Run } from '../generated/client.ts'
import type { TaskState } from '../generated/enums.ts'
import type { Pool } from '../postgres/pool.ts'
import { type InputColumn, inputRows, inputValues } from '../postgres/statement-input.ts'
import { unblocked } from '../queues/queue-sql.ts'
import { extraRunBytes } from '../usage/count-storage.ts'
import { topicOfMoved } from './task-row.ts'

/** The outcome of an attempt, and the next state of its task. */
export type FinishedAttempt = Pick<Run, 'status' | 'scheduledAt' | 'startedAt' | 'finishedAt'> &
  Pick<Run, 'responseStatus' | 'responseHeaders' | 'responseBytes' | 'responseTruncated'> &
  Pick<Run, 'errorCode' | 'errorMessage'> & {
    taskId: string
    runId: string
    state: Extract<TaskState, 'success' | 'retrying' | 'dead'>
    /** The delay until the next attempt; null unless the task is `retrying`. */
    retryDelayMs: number | null
    requestHeaders: string
    responseBody: Buffer | null
    /** Why it started late, as far as the dispatcher knows. Default: null. */
    waitedFor?: WaitReason | null
    /** How long the steps of its call took. Default: null. */
    timings?: RunTimings | null
  }

/** `dueAt`: when a retrying task is due again. `now`: the current time. Both by the database's clock. */
export type RecordedAttempt = { dueAt: Date; now: Date } | { dueAt: null; now: null }

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
  ['waited_for', 'text', ({ waitedFor }) => waitedFor],
  ['timings', 'text', ({ timings: ms }) => ms && JSON.stringify([ms.dnsMs, ms.connectMs, ms.tlsMs, ms.firstByteMs])],
]

/**
 * Stores the runs of finished attempts and moves their tasks, in one statement. Fenced by the run's id: an attempt is
 * skipped and returns null when its task has been claimed again. An attempt that counts as lost is still recorded while
 * its task waits in quarantine. Its run then has the real outcome, and the call is not repeated.
 */
export async function recordAttempts(pool: Pool, attempts: readonly FinishedAttempt[]) {
  // Tasks of one time are stored together, so PostgreSQL reads their pages in sequence.
  const sorted = attempts.toSorted((one, other) => (one.taskId < other.taskId ? -1 : 1))
  const recorded = await store(pool, 'record_attempts', recordStatement, sorted)
  const others = sorted.filter(attempt => recorded(attempt) === null)
  if (others.length === 0) return attempts.map(recorded)
  const late = await store(pool, 'record_late', lateStatement, others)
  return attempts.map(attempt => recorded(attempt) ?? late(attempt))
}

type Answer = RecordedAttempt & { runId: string; stored: number | null }

const ended: RecordedAttempt = { dueAt: null, now: null }

/** Returns a function that tells the result of each attempt. */
async function store(pool: Pool, name: string, text: string, attempts: readonly FinishedAttempt[]) {
  const values = inputValues(recordInput, attempts)
  const { rows } = await pool.query<Answer>({ name, text, values })
  const byRun = new Map(rows.map(answer => [answer.runId, answer]))
  const unlisted = rows.some(({ stored }) => stored === attempts.length) ? ended : null
  return ({ runId }: FinishedAttempt): RecordedAttempt | null => byRun.get(runId) ?? unlisted
}

// The subselect hides the old state from the planner: with stale statistics ("no task is processing") it would scan the
// whole table. IS NOT DISTINCT FROM keeps the planner from using an index: while the table is new, it would read the
// whole index of states for each batch. RETURNING carries the input along with the moved task, because the time of a
// second join grows with the square of the rows.
const outcomeColumns = `
          state = i.to_state, quarantined = false, lost_alone = 0, updated_at = now(),
          due_at = CASE i.to_state WHEN 'retrying' THEN clock_timestamp() + i.retry_delay_ms * interval '1 millisecond'
                                   ELSE t.due_at END,
          finished_at = CASE i.to_state WHEN 'retrying' THEN NULL ELSE now() END`

// An attempt with one of these codes does not count as a retry.
const isLost = `(coalesce(i.error_code, '') IN ('worker_lost', 'stale_connection'))`

const usageChanges = `
    changed AS (
      INSERT INTO usage_changes (workspace_id, storage_bytes, failed)
      SELECT workspace_id, sum(coalesce(octet_length(response_body), 0) + coalesce(${extraRunBytes}, 0)),
             count(*) FILTER (WHERE to_state = 'dead')
      FROM moved WHERE octet_length(response_body) > 0 OR to_state = 'dead' OR ${extraRunBytes} > 0
      GROUP BY workspace_id
    )
    -- One row for nearly all batches: most attempts are stored, and end their tasks.
    SELECT NULL::uuid AS "runId", NULL::timestamptz AS "dueAt", NULL::timestamptz AS now, count(*)::int AS stored FROM moved
    UNION ALL
    SELECT run_id, CASE to_state WHEN 'retrying' THEN due_at END, CASE to_state WHEN 'retrying' THEN clock_timestamp() END, NULL
    FROM moved WHERE to_state = 'retrying' OR (SELECT count(*) FROM moved) < cardinality($1)`

// A queue that blocked a task before its first attempt has moved its due time. A backfilled task is due long after its time.
const waitReason = `
             coalesce(moved.waited_for, CASE WHEN queue_id IS NOT NULL AND attempts = 1
               AND scheduled_at >= execute_at + interval '${lateMs} milliseconds'
               AND (cron_job_id IS NULL OR uuid_v7_time(moved.id) < execute_at + interval '1 minute') THEN 'queue' END)`

export const recordStatement = `
    WITH input AS (${inputRows(recordInput)}),
    moved AS (
      UPDATE tasks t
      SET ${outcomeColumns}, lease_until = NULL, dispatcher_id = NULL, prefetched = false,
          lost = t.lost + ${isLost}::int
      FROM input i
      WHERE t.id = i.task_id AND t.run_id = i.run_id AND t.state IS NOT DISTINCT FROM (SELECT 'processing'::task_state)
      RETURNING i.*, t.id, t.workspace_id, t.source, t.attempts, t.due_at, t.cron_job_id, t.queue_id, t.execute_at
    ),
    stored AS (
      INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                        request_headers, response_status, response_headers, response_body, response_bytes,
                        response_truncated, error_code, error_message, cron_job_id, topic, extra_bytes, waited_for, timings)
      SELECT run_id, workspace_id, id, attempts, source, status, scheduled_at, started_at, finished_at,
             request_headers, response_status, response_headers, response_body, response_bytes, response_truncated,
             error_code, error_message, cron_job_id, ${topicOfMoved}, ${extraRunBytes}, ${waitReason}, timings
      FROM moved
    ),
    ${usageChanges}`

// A blocked task waits for the delay of its retry first, and then asks its queue again.
const lateStatement = `
    WITH input AS (${inputRows(recordInput)}),
    moved AS (
      UPDATE tasks t
      SET ${outcomeColumns}, lost = t.lost - 1 + ${isLost}::int, waits_for = ${unblocked}
      FROM input i
      WHERE t.id = i.task_id AND t.run_id = i.run_id AND t.state IS NOT DISTINCT FROM (SELECT 'retrying'::task_state) AND t.quarantined
      RETURNING i.*, t.id, t.workspace_id, t.due_at
    ),
    stored AS (
      UPDATE runs r
      SET status = m.status, started_at = m.started_at, finished_at = m.finished_at, request_headers = m.request_headers,
          response_status = m.response_status, response_headers = m.response_headers, response_body = m.response_body,
          response_bytes = m.response_bytes, response_truncated = m.response_truncated, error_code = m.error_code,
          error_message = m.error_message, extra_bytes = m.extra_bytes, waited_for = m.waited_for, timings = m.timings
      FROM (SELECT *, ${extraRunBytes} AS extra_bytes FROM moved) m WHERE r.workspace_id = m.workspace_id AND r.id = m.run_id
    ),
    ${usageChanges}`
