import { defaultTiers, type Tiers } from '@belfry/domain'
import type { TaskSource, TaskState } from './generated/enums.ts'
import type { Pool } from './pool.ts'
import { valuesOf } from './statement-rows.ts'
import type { StoredRequest } from './stored-request.ts'
import { originOf } from './task-origin.ts'
import { countedExecutions, tierRows } from './usage/count-executions.ts'

/** A claim outlives the deadline of its attempt by this much before the task is taken from its dispatcher. */
export const leaseMarginMs = 15_000

export type ClaimedTask = StoredRequest & {
  taskId: string
  workspaceId: string
  source: TaskSource
  cronJobId: string | null
  topic: string | null
  /** Where the trace of the request that made it goes on; null when it had none. */
  traceparent: string | null
  /** 1 for the first attempt. */
  attempt: number
  runId: string
  executeAt: Date
  /** When this attempt was due. */
  scheduledAt: Date
  /** When it was claimed, by the database's clock. */
  claimedAt: Date
}

/**
 * `claimed`: the caller owns the attempt. `early`: due in `dueInMs`. `busy`: another transaction holds the row; ask
 * again. `moved`: it calls another origin than the claim was made for. `gone`: somebody else's, cancelled, finished or
 * unknown; also what this has just cancelled: a task of a deleted workspace, an occurrence of a cron job that may not
 * overlap, or a task that its organization's quotas leave no room for, and then with the reason as `refusal`.
 */
export type Claim =
  | { kind: 'claimed'; task: ClaimedTask }
  | { kind: 'early'; dueInMs: number }
  | { kind: 'busy' }
  | { kind: 'moved'; origin: string }
  | { kind: 'gone'; refusal?: string }

/**
 * A task that somebody wants to claim, and a random UUID by which that claim is known again. With an `origin` the claim
 * is for a task that calls this one only, as its URL spells it: room was made for that call and not for another.
 */
export type ClaimRequest = { taskId: string; token: string; origin?: string }

/**
 * Claims the due tasks among those asked for, each for its next attempt, and answers in the same order. Two dispatchers cannot
 * both claim a task, and none is claimed before its time by the database's clock. The claim is committed when this
 * resolves: it is what remains of an attempt whose dispatcher dies. When it rejects because the connection broke, asking
 * again with the same tokens tells whether the claim was committed.
 *
 * A task's first attempt is an execution. It is counted in the same statement, so that an organization gets exactly as
 * many in a month as its tier allows, whoever asks; beyond that its pending tasks are cancelled as they fall due.
 * @param tiers - What the tiers allow. Default: `defaultTiers`.
 */
export async function claimTasks(
  pool: Pool,
  requests: readonly ClaimRequest[],
  tiers: Tiers = defaultTiers,
): Promise<Claim[]> {
  const distinct = new Map(requests.map(request => [request.taskId, request]))
  const { name, values, params } = valuesOf('claim_tasks', claimColumns, [...distinct.values()].map(toRow))
  const limits = tierRows(tiers, params.length + 1)
  const text = claimStatement(values, limits.text)
  const { rows } = await pool.query<ClaimRow>({ name, text, values: [...params, ...limits.params] })
  const byId = new Map(rows.map(row => [row.taskId, row]))
  // A change of the task that was committed while the claim waited for the row is newer than the claim's view of the
  // request. From the claim on the request cannot change any more, so it is simply read again.
  await Promise.all(
    rows.filter(row => row.requestChanged).map(async row => Object.assign(row, await readRequest(pool, row.taskId))),
  )
  return requests.map(request => {
    const row = byId.get(request.taskId)
    if (distinct.get(request.taskId)?.token === request.token) return toClaim(row, request)
    return { kind: 'gone' } // two jobs may name one task: only one of those that ask for it may get it
  })
}

export const claimColumns = ['uuid', 'uuid', 'text']

function toRow({ taskId, token, origin }: ClaimRequest): unknown[] {
  return [taskId, token, origin]
}

// "NOT IN" rather than "IN (pending, retrying)": with the latter the planner may choose the partial index on due_at as
// its way into the table and read all of it for each batch.
export function claimStatement(values: string, tiers: string): string {
  return `
    WITH input (id, token, origin) AS (VALUES ${values}),
    ready AS (
      SELECT t.id, t.xmin AS version, t.due_at AS scheduled_at, t.workspace_id, t.state = 'pending' AS is_first,
             input.token, r.timeout_ms, ${ownRefusal} AS own_refusal
      FROM input JOIN tasks t ON t.id = input.id JOIN task_requests r ON r.task_id = input.id
      LEFT JOIN workspaces w ON w.id = t.workspace_id
      WHERE t.state NOT IN ('processing', 'success', 'dead', 'cancelled') AND t.due_at <= clock_timestamp()
        AND (input.origin IS NULL OR input.origin = ${originOf('r.url')})
      FOR UPDATE OF t SKIP LOCKED
    ),
    ${countedExecutions(tiers)},
    decided AS (
      SELECT ready.*, coalesce(own_refusal, refused.reason) AS refusal
      FROM ready LEFT JOIN refused ON refused.id = ready.id
    ),
    claimed AS (
      UPDATE tasks t
      SET state = CASE WHEN refusal IS NULL THEN 'processing' ELSE 'cancelled' END::task_state, updated_at = now(),
          state_reason = refusal,
          finished_at = CASE WHEN refusal IS NOT NULL THEN now() END,
          attempts = CASE WHEN refusal IS NULL THEN t.attempts + 1 ELSE t.attempts END,
          run_id = CASE WHEN refusal IS NULL THEN uuid_v7(clock_timestamp(), d.token) ELSE t.run_id END,
          lease_until = CASE WHEN refusal IS NULL THEN
            clock_timestamp() + (d.timeout_ms + ${leaseMarginMs}) * interval '1 millisecond' END
      FROM decided d WHERE t.id = d.id
      RETURNING t.id, t.workspace_id, t.state, t.attempts, t.run_id, d.version, d.scheduled_at, d.is_first, d.refusal
    ),
    noted AS (
      INSERT INTO usage_changes (workspace_id, executions)
      SELECT workspace_id, count(*) FROM claimed WHERE is_first AND state = 'processing' GROUP BY workspace_id
    )
    SELECT input.id AS "taskId", coalesce(c.state = 'processing', false) AS "isClaimed", coalesce(c.run_id, t.run_id) AS "runId",
           coalesce(c.attempts, t.attempts) AS attempt, coalesce(c.scheduled_at, t.due_at) AS "scheduledAt",
           uuid_v7_time(coalesce(c.run_id, t.run_id)) AS "claimedAt", c.version <> t.xmin AS "requestChanged",
           t.workspace_id AS "workspaceId", t.source, t.cron_job_id AS "cronJobId", t.execute_at AS "executeAt",
           coalesce(c.state, t.state) AS state, c.refusal,
           extract(epoch FROM t.due_at - clock_timestamp())::float8 * 1000 AS "dueInMs",
           ${originOf('r.url')} AS origin, ${requestColumns}
    FROM input JOIN tasks t ON t.id = input.id
    JOIN task_requests r ON r.task_id = input.id LEFT JOIN claimed c ON c.id = input.id`
}

// Why a task is cancelled in place of its attempt. Nothing of a deleted workspace starts, whatever of its tasks has not
// been cancelled yet. An occurrence of a cron job that may not overlap is skipped when an earlier dispatch of the same
// cron job has not finished. It is asked here because only now it can be known, and only for the first attempt of an
// occurrence: other tasks pay for looking at one of their own columns. No race: the earlier one is unfinished from before
// its claim on.
const ownRefusal = `
      CASE WHEN w.deleted_at IS NOT NULL THEN 'workspace_deleted'
      WHEN t.occurrence_at IS NOT NULL AND t.state = 'pending' AND EXISTS (
        SELECT FROM cron_jobs j JOIN tasks o ON o.cron_job_id = j.id
        WHERE j.id = t.cron_job_id AND j.overlap = 'skip' AND o.finished_at IS NULL
          AND (o.execute_at, o.id) < (t.execute_at, t.id)
      ) THEN 'overlap_skipped' END`

type ClaimRow = ClaimedTask & {
  isClaimed: boolean
  requestChanged: boolean
  origin: string
  state: TaskState
  refusal: string | null
  dueInMs: number
}

const requestColumns = `r.url, r.method, r.headers, r.payload, r.max_retries AS "maxRetries", r.backoff,
  r.base_delay_ms AS "baseDelayMs", r.max_delay_ms AS "maxDelayMs", r.timeout_ms AS "timeoutMs", r.topic, r.traceparent`

function toClaim(row: ClaimRow | undefined, { token, origin }: ClaimRequest): Claim {
  if (!row) return { kind: 'gone' }
  const { isClaimed, origin: stored, state, refusal, dueInMs } = row
  if (isClaimed || (state === 'processing' && carries(row.runId, token))) return { kind: 'claimed', task: toTask(row) }
  if (refusal !== null) return { kind: 'gone', refusal }
  if (state !== 'pending' && state !== 'retrying') return { kind: 'gone' }
  if (dueInMs > 0) return { kind: 'early', dueInMs }
  return origin === undefined || origin === stored ? { kind: 'busy' } : { kind: 'moved', origin: stored }
}

function toTask(row: ClaimRow): ClaimedTask {
  return {
    taskId: row.taskId,
    workspaceId: row.workspaceId,
    source: row.source,
    cronJobId: row.cronJobId,
    topic: row.topic,
    traceparent: row.traceparent,
    attempt: row.attempt,
    runId: row.runId,
    executeAt: row.executeAt,
    scheduledAt: row.scheduledAt,
    claimedAt: row.claimedAt,
    url: row.url,
    method: row.method,
    headers: row.headers,
    payload: row.payload,
    maxRetries: row.maxRetries,
    backoff: row.backoff,
    baseDelayMs: row.baseDelayMs,
    maxDelayMs: row.maxDelayMs,
    timeoutMs: row.timeoutMs,
  }
}

// The id of a run is the time of its claim followed by the random half of the token.
function carries(runId: string, token: string): boolean {
  return runId.slice(-17) === token.slice(-17)
}

async function readRequest(pool: Pool, taskId: string): Promise<StoredRequest | undefined> {
  const text = `SELECT ${requestColumns} FROM task_requests r WHERE r.task_id = $1`
  const { rows } = await pool.query<StoredRequest>({ name: 'read_request', text, values: [taskId] })
  return rows[0]
}
