import { defaultTiers, type Tiers } from '@belfry/domain'
import type { TaskState } from './generated/enums.ts'
import type { Pool } from './pool.ts'
import { type InputColumn, inputRows, inputValues } from './statement-input.ts'
import { requestColumnOf, type StoredRequest } from './stored-request.ts'
import { callsOrigin, originOf } from './task-origin.ts'
import { countedExecutions, tierRows } from './usage/count-executions.ts'

/** A claim outlives the deadline of its attempt by this much before the task is taken from its dispatcher. */
export const leaseMarginMs = 15_000

export type ClaimedTask = StoredRequest & {
  taskId: string
  workspaceId: string
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
 * `claimed`: the caller owns the attempt, and heard so at `heardAt` of its own `performance.now()`. `early`: due in
 * `dueInMs`. `busy`: another transaction holds the row; ask again. `moved`: it calls another origin than the claim was
 * made for. `gone`: somebody else's, cancelled, finished or unknown; also what this has just cancelled: a task of a
 * deleted workspace, an occurrence of a cron job that may not overlap, or a task that its organization's quotas leave no
 * room for, and then with the reason as `refusal`.
 */
export type Claim =
  | { kind: 'claimed'; task: ClaimedTask; heardAt: number }
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
  const all = [...distinct.values()]
  const values = [...inputValues(claimInput, all), ...tierRows(tiers, claimInput.length + 1).params]
  const { rows } = await pool.query<ClaimedRow>({ name: 'claim_tasks', text: claimStatement, values })
  const claims = new Map(rows.map(row => [row.taskId, toClaim(row)]))
  if (claims.size < distinct.size) {
    const others = all.filter(({ taskId }) => !claims.has(taskId))
    for (const [taskId, claim] of await explainClaims(pool, others)) claims.set(taskId, claim)
  }
  // Two jobs may name one task: only one of those that ask for it may get it.
  return requests.map(({ taskId, token }) =>
    distinct.get(taskId)?.token === token ? (claims.get(taskId) ?? gone) : gone,
  )
}

const gone: Claim = { kind: 'gone' }

export const claimInput: ReadonlyArray<InputColumn<ClaimRequest>> = [
  ['id', 'uuid', ({ taskId }) => taskId],
  ['token', 'text', ({ token }) => token],
  ['origin', 'text', ({ origin }) => origin],
]

// An occurrence of a cron job that may not overlap is skipped when an earlier dispatch of the same cron job has not
// finished. It is asked here because only now it can be known, and only for the first attempt of an occurrence: other
// tasks pay for looking at one of their own columns. No race: the earlier one is unfinished from before its claim on.
const ownRefusal = `
      CASE WHEN t.occurrence_at IS NOT NULL AND t.state = 'pending' AND EXISTS (
        SELECT FROM cron_jobs j JOIN tasks o ON o.cron_job_id = j.id
        WHERE j.id = t.cron_job_id AND j.overlap = 'skip' AND o.finished_at IS NULL
          AND (o.execute_at, o.id) < (t.execute_at, t.id)
      ) THEN 'overlap_skipped' END`

const requestFields = { ...requestColumnOf, topic: 'topic', traceparent: 'traceparent' }
const requestColumns = Object.entries(requestFields)
  .map(([field, column]) => `r.${column} AS "${field}"`)
  .join(', ')

// "NOT IN" rather than "IN (pending, retrying)": with the latter the planner may choose the partial index on due_at as
// its way into the table and read all of it for each batch.
//
// The update finds a row by the place where it was locked. If the row was changed after this statement's view of the
// data was taken, what lies at that place is not in the view, so nothing is updated and the caller hears "busy": an
// attempt never sends a request that is older than its task. Each row is read once and carried along from then on,
// because joins between the parts of a statement take time with the square of their rows.
export const claimStatement = `
    WITH input AS (${inputRows(claimInput)}),
    ready AS (
      SELECT t.ctid AS place, t.id, t.workspace_id, t.cron_job_id, t.execute_at, t.due_at AS scheduled_at,
             t.state = 'pending' AS is_first, input.token, ${requestColumns}, ${ownRefusal} AS own_refusal
      FROM input JOIN tasks t ON t.id = input.id JOIN task_requests r ON r.task_id = input.id
      WHERE t.state NOT IN ('processing', 'success', 'dead', 'cancelled') AND t.due_at <= clock_timestamp()
        AND (input.origin IS NULL OR ${callsOrigin('r.url', 'input.origin')})
      FOR UPDATE OF t SKIP LOCKED
    ),
    ${countedExecutions(tierRows(defaultTiers, claimInput.length + 1).text)},
    decided AS (
      SELECT ready.*, coalesce(refused.reason, own_refusal) AS refusal
      FROM ready LEFT JOIN refused ON refused.id = ready.id
    ),
    -- Read after the last wait, so that no attempt begins before its claim. Written as a UUIDv7 begins, and without the
    -- function for that, which PostgreSQL would parse and plan anew each time.
    start AS MATERIALIZED (
      SELECT lpad(to_hex((extract(epoch FROM clock_timestamp()::timestamptz(3)) * 1000)::bigint), 12, '0') AS instant
    ),
    claimed AS (
      UPDATE tasks t
      SET state = CASE WHEN refusal IS NULL THEN 'processing' ELSE 'cancelled' END::task_state, updated_at = now(),
          state_reason = refusal,
          finished_at = CASE WHEN refusal IS NOT NULL THEN now() END,
          attempts = CASE WHEN refusal IS NULL THEN t.attempts + 1 ELSE t.attempts END,
          run_id = CASE WHEN refusal IS NULL THEN
            ((SELECT instant FROM start) || '-7' || substr(d.token, 16))::uuid ELSE t.run_id END,
          lease_until = CASE WHEN refusal IS NULL THEN
            clock_timestamp() + (d."timeoutMs" + ${leaseMarginMs}) * interval '1 millisecond' END
      FROM decided d WHERE t.ctid = d.place
      RETURNING d.*, t.state, t.run_id, t.attempts
    ),
    noted AS (
      INSERT INTO usage_changes (workspace_id, executions)
      SELECT workspace_id, count(*) FROM claimed WHERE is_first AND state = 'processing' GROUP BY workspace_id
    )
    SELECT id AS "taskId", refusal, run_id AS "runId", attempts AS attempt, scheduled_at AS "scheduledAt",
           NULL AS "claimedAt", workspace_id AS "workspaceId", cron_job_id AS "cronJobId",
           nullif(execute_at, scheduled_at) AS "executeAt", ${Object.keys(requestFields)
             .map(field => `"${field}"`)
             .join(', ')}
    FROM claimed`

// Times are dear to write and to read. A first attempt is due at the time of its task, and the id of a run begins with that
// of its claim.
type ClaimedRow = ClaimedTask & { refusal: string | null; executeAt: Date | null }

function toClaim(row: ClaimedRow): Claim {
  if (row.refusal !== null) return { kind: 'gone', refusal: row.refusal }
  row.executeAt ??= row.scheduledAt
  row.claimedAt = new Date(Number.parseInt(row.runId.slice(0, 8) + row.runId.slice(9, 13), 16))
  return { kind: 'claimed', task: row, heardAt: performance.now() }
}

/** Tells why tasks could not be claimed. */
async function explainClaims(pool: Pool, requests: readonly ClaimRequest[]): Promise<Map<string, Claim>> {
  const values = inputValues(unclaimedInput, requests)
  const { rows } = await pool.query<UnclaimedRow>({ name: 'explain_claims', text: unclaimedStatement, values })
  const byId = new Map(rows.map(row => [row.taskId, row]))
  return new Map(requests.map(request => [request.taskId, explain(byId.get(request.taskId), request)]))
}

export const unclaimedInput: ReadonlyArray<InputColumn<ClaimRequest>> = [['id', 'uuid', ({ taskId }) => taskId]]
export const unclaimedStatement = `
    WITH input AS (${inputRows(unclaimedInput)})
    SELECT t.id AS "taskId", t.state, NULL AS refusal, t.run_id AS "runId", t.attempts AS attempt, t.due_at AS "scheduledAt",
           NULL AS "claimedAt", t.workspace_id AS "workspaceId",
           t.cron_job_id AS "cronJobId", t.execute_at AS "executeAt", ${requestColumns},
           extract(epoch FROM t.due_at - clock_timestamp())::float8 * 1000 AS "dueInMs", ${originOf('r.url')} AS origin
    FROM input JOIN tasks t ON t.id = input.id JOIN task_requests r ON r.task_id = input.id`

type UnclaimedRow = ClaimedRow & { state: TaskState; origin: string; dueInMs: number }

function explain(row: UnclaimedRow | undefined, { token, origin: wanted }: ClaimRequest): Claim {
  if (!row) return gone
  const { state, origin, dueInMs, ...claimed } = row
  if (state === 'processing' && carries(row.runId, token)) return toClaim(claimed)
  if (state !== 'pending' && state !== 'retrying') return gone
  if (dueInMs > 0) return { kind: 'early', dueInMs }
  return wanted === undefined || wanted === origin ? { kind: 'busy' } : { kind: 'moved', origin }
}

// The id of a run is the time of its claim followed by the random half of the token.
function carries(runId: string, token: string): boolean {
  return runId.slice(-17) === token.slice(-17)
}
