import { defaultTiers, type Tiers } from '@belfry/domain/tiers'
import { type Db, inTransaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { type InputColumn, inputRows, inputValues } from '../postgres/statement-input.ts'
import { advanceQueues, advanceQueuesOf } from '../queues/advance-queues.ts'
import { limitedClaim, type QueueTexts, unlimitedClaim } from '../queues/queued-claim.ts'
import { coveredExecutions, spentExecutions, tierRows } from '../usage/count-executions.ts'
import { topUpExecutions } from '../usage/execution-blocks.ts'
import {
  type Claim,
  type ClaimedRow,
  type ClaimRequest,
  claimedRow,
  requestColumns,
  requestNames,
  type ShortClaim,
  specialOf,
  toClaim,
  unclaimedRow,
} from './claimed-row.ts'
import { expiredReason, expireTasks } from './expire-tasks.ts'
import { explainClaims, gone, startsWithClaim } from './explain-claims.ts'
import { originOf } from './task-row.ts'

/** The lease of an attempt ends this long after its timeout. An attempt that takes longer is reported as overdue. */
export const leaseMarginMs = 15_000

/** A dispatcher that claims. `quarantine`: only tasks in quarantine. Default: only other tasks. */
export type Claimant = { dispatcherId: string; quarantine?: boolean }

/** A task that was `short`. */
export type ShortRequest = ClaimRequest & { organizationId: string }

/**
 * Grants the dispatcher a new block of executions for each organization, then claims the tasks. When an organization has
 * too few executions left, the oldest due tasks get them and the others are cancelled. A task is `short` again only when
 * the tier has changed meanwhile.
 * @param lockTimeoutMs - How long to wait for an organization's row. Default: the lock timeout of the pool.
 */
export async function claimWithTopUp(
  pool: Pool,
  claimant: Claimant,
  requests: readonly ShortRequest[],
  tiers: Tiers,
  lockTimeoutMs?: number,
): Promise<Array<Claim | ShortClaim>> {
  const byOrganization = new Map<string, number>()
  for (const { organizationId: id } of requests) byOrganization.set(id, (byOrganization.get(id) ?? 0) + 1)
  return inTransaction(pool, async tx => {
    if (lockTimeoutMs !== undefined) await tx.query(`SET LOCAL lock_timeout = ${Math.ceil(lockTimeoutMs)}`)
    await topUpExecutions(tx, claimant.dispatcherId, byOrganization, tiers)
    return claimFromBlocks(tx, claimant, requests, tiers, true)
  })
}

/**
 * Claims due tasks, each for its next attempt, and returns the answers in the order of `requests`. Two dispatchers cannot
 * both claim a task, and no task is claimed before its time by the database's clock. When this rejects because the connection
 * broke, a second call with the same tokens returns the committed claims.
 *
 * One statement claims within the dispatcher's own blocks of executions, and does not wait for rows. A second statement claims
 * the tasks that are `isQueued`, and waits for other claims of their queues. A task's first attempt is an execution. An
 * organization gets exactly as many in a month as its tier allows.
 *
 * An occurrence of a cron job is never prefetched: once a pause is committed, occurrences of that cron job must not
 * start. A task whose deadline has passed is not claimed. It is dead.
 * @param isToppedUp - Whether the organizations have no executions outside these blocks, so tasks beyond them are
 * cancelled. Default: false.
 */
export async function claimFromBlocks(
  db: Db,
  { dispatcherId, quarantine = false }: Claimant,
  requests: readonly ClaimRequest[],
  tiers: Tiers,
  isToppedUp = false,
): Promise<Array<Claim | ShortClaim>> {
  const distinct = new Map(requests.map(request => [request.taskId, request]))
  const all = [...distinct.values()]
  const limits = tierRows(tiers, claimInput.length + 1).params
  const claims = new Map<string, Claim | ShortClaim>()
  for (const [name, text, isQueued] of claimStatements) {
    const part = all.filter(request => (request.isQueued ?? false) === isQueued)
    if (part.length === 0) continue
    const values = [...inputValues(claimInput, part), ...limits, dispatcherId, quarantine, isToppedUp]
    const { rows } = await db.query<ClaimedRow>({ name, text, values })
    for (const row of rows) claims.set(row.taskId, toClaim(row, distinct.get(row.taskId)?.isPrefetch ?? false))
    if (!isQueued) continue
    const refused = rows.filter(({ taskId }) => claims.get(taskId)?.kind === 'gone')
    const freed = refused.flatMap(row => specialOf(row).queueId ?? [])
    await advanceQueues(db, [...new Set(freed)])
  }
  if (claims.size < distinct.size) {
    const others = all.filter(({ taskId }) => !claims.has(taskId))
    const explained = await explainClaims(db, others, quarantine)
    for (const [taskId, claim] of explained) claims.set(taskId, claim)
    const expired = [...explained].filter(([, claim]) => claim.kind === 'gone' && claim.refusal === expiredReason)
    if (expired.length > 0) {
      const ended = await expireTasks(db, { taskIds: expired.map(([taskId]) => taskId) })
      const endedIds = ended.map(({ taskId }) => taskId)
      await advanceQueuesOf(db, endedIds)
      // Another transaction has the others: perhaps an earlier claim with the same token, whose commit hangs.
      for (const [taskId] of expired) if (!endedIds.includes(taskId)) claims.set(taskId, busy)
    }
  }
  // Two jobs may name the same task, and only one request for it may get the claim.
  return requests.map(({ taskId, token }) =>
    distinct.get(taskId)?.token === token ? (claims.get(taskId) ?? gone) : gone,
  )
}

const busy: Claim = { kind: 'busy' }

export const claimInput: ReadonlyArray<InputColumn<ClaimRequest>> = [
  ['id', 'uuid', ({ taskId }) => taskId],
  ['token', 'text', ({ token }) => token],
  ['origin', 'text', ({ origin }) => origin],
  ['is_prefetch', 'bool', ({ isPrefetch }) => isPrefetch ?? false],
]

// The reason why the first attempt of a cron job's task must not start; null for a replay. Its cron job may have been
// paused, changed or deleted, and then a claim undone. With `overlap: skip`, an occurrence is skipped while an earlier
// task of the same cron job is unfinished and not held. There is no race: that task is unfinished from before its own
// claim. For other tasks the check reads one column.
const ownRefusal = `
      CASE WHEN t.cron_job_id IS NOT NULL AND t.state = 'pending' AND t.replay_of IS NULL THEN (
        SELECT CASE
          WHEN j.id IS NULL THEN 'cronjob_deleted'
          WHEN j.paused_at > t.created_at THEN 'cronjob_paused'
          WHEN t.occurrence_at IS NOT NULL AND j.void_before > t.created_at THEN 'cronjob_changed'
          WHEN t.occurrence_at IS NOT NULL AND j.overlap = 'skip' AND EXISTS (
            SELECT FROM tasks o
            WHERE o.cron_job_id = t.cron_job_id AND o.finished_at IS NULL
              AND (o.execute_at, o.id) < (t.execute_at, t.id)
              AND o.waits_for <> 2
          ) THEN 'overlap_skipped' END
        FROM (SELECT) one LEFT JOIN cron_jobs j ON j.id = t.cron_job_id
      ) END`

// These parameters follow the input columns and the three arrays of the tiers.
const [dispatcherParameter, quarantineParameter, toppedUpParameter] = [4, 5, 6].map(i => `$${claimInput.length + i}`)
const claimTexts = {
  tiers: tierRows(defaultTiers, claimInput.length + 1).text,
  dispatcher: `${dispatcherParameter}::uuid`,
  isToppedUp: `${toppedUpParameter}::boolean`,
}

// "NOT IN" rather than "IN (pending, retrying)": for the latter the planner may choose the partial index on due_at, and read
// all of it for each batch.
//
// The update finds a row by the ctid at which it was locked. If the row has changed since the snapshot of this statement,
// the row at that ctid is not in the snapshot. Then nothing is updated and the answer is "busy", so an attempt never sends
// an outdated request. Each row is read once and carried from CTE to CTE, because the time of joins between CTEs grows with
// the square of their rows.
const claimText = (queues: QueueTexts) => `
    WITH input AS (${inputRows(claimInput)}),
    ${queues.ready === '' ? 'ready' : 'candidates'} AS (
      SELECT t.ctid AS place, t.id, t.workspace_id, t.execute_at, t.due_at AS scheduled_at,
             t.state = 'pending' AS is_first, input.token, input.is_prefetch, t.lost, r.timeout_ms, ${requestColumns}, ${ownRefusal} AS own_refusal${queues.columns}
      FROM input JOIN tasks t ON t.id = input.id JOIN task_requests r ON r.task_id = input.id
      WHERE t.state NOT IN ('processing', 'success', 'dead', 'cancelled') AND t.waits_for = 0 AND t.due_at <= clock_timestamp()
        AND (input.origin IS NULL OR ${originOf('r.url')} = input.origin)
        AND t.quarantined = ${quarantineParameter}::boolean AND NOT (input.is_prefetch AND ${startsWithClaim})
        AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp())
        ${queues.condition}
      FOR UPDATE OF t SKIP LOCKED
    ),${queues.ready}
    ${coveredExecutions(claimTexts)},
    decided AS (
      SELECT ready.*, coalesce(refused.reason, own_refusal) AS refusal
      FROM ready LEFT JOIN refused ON refused.id = ready.id
      WHERE refused.reason IS DISTINCT FROM 'short'
    ),
    -- The first 48 bits of a UUIDv7. No function of our own, because PostgreSQL would parse and plan its body each time.
    -- A refund goes to the month of the run's id, so a statement claims nothing when a month begins while it runs.
    start AS MATERIALIZED (
      SELECT at, lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') AS instant
      FROM (SELECT clock_timestamp()::timestamptz(3) AS at ${queues.after} OFFSET 0) clock WHERE utc_month(at) = utc_month(now())
    ),
    claimed AS (
      UPDATE tasks t
      SET state = CASE WHEN refusal IS NULL THEN 'processing' ELSE 'cancelled' END::task_state, updated_at = now(),
          state_reason = refusal,
          finished_at = CASE WHEN refusal IS NOT NULL THEN now() END,
          attempts = CASE WHEN refusal IS NULL THEN t.attempts + 1 ELSE t.attempts END,
          run_id = CASE WHEN refusal IS NULL THEN
            (start.instant || '-7' || substr(d.token, 16))::uuid ELSE t.run_id END,
          dispatcher_id = CASE WHEN refusal IS NULL THEN ${claimTexts.dispatcher} END,
          prefetched = refusal IS NULL AND d.is_prefetch,
          lease_until = CASE WHEN refusal IS NULL THEN
            clock_timestamp() + (d.timeout_ms + ${leaseMarginMs}) * interval '1 millisecond' END
      FROM start CROSS JOIN decided d WHERE t.ctid = d.place
      RETURNING d.*, t.state, t.run_id, t.attempts, start.at AS claimed_at
    ),
    ${spentExecutions(claimTexts.dispatcher)}${queues.counted}
    SELECT ${claimedRow('', { dueAt: 'scheduled_at', queueId: queues.advances, refusal: 'refusal' })}, ${requestNames}
    FROM claimed
    UNION ALL
    SELECT ${unclaimedRow({ organizationId: 'organization_id' })}
    FROM refused WHERE reason = 'short'${
      queues.blocked === ''
        ? ''
        : `
    UNION ALL
    SELECT ${unclaimedRow({ refusal: "'blocked'", queueId: 'queue_id' })} FROM (${queues.blocked}) blocked`
    }`

export const claimStatement = claimText(unlimitedClaim)
const claimStatements = [
  ['claim_tasks', claimStatement, false],
  ['claim_queued_tasks', claimText(limitedClaim), true],
] as const
