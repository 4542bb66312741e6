import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { advanceQueuesOf } from '../queues/advance-queues.ts'
import { type LostAttempt, loseAttempts } from '../tasks/lose-attempts.ts'
import { isUnsent as isUnsentSql } from '../tasks/send-journal.ts'
import { isInFlight } from '../tasks/task-row.ts'
import { type UnstartedClaim, undoClaims } from '../tasks/undo-claims.ts'
import { leaseFloor } from '../tasks/waiting-floor.ts'

/** `undone`: the claims whose tasks wait again, because their requests were never sent. */
export type EndedDispatcher = { undone: UnstartedClaim[]; lost: LostAttempt[] }

type OwnedClaim = UnstartedClaim & { isUnsent: boolean }

const batchSize = 1_000

/**
 * Ends a dead dispatcher. Undoes its prefetched claims that it never sent. Each other claim is a lost attempt: see
 * `loseAttempts`. The only attempt in flight counts as lost alone, because its task may have killed the process. When
 * PostgreSQL has restarted, the send journal is gone. Then every claim counts as sent, and as lost together with others.
 *
 * A dispatcher that comes back later no longer owns its claims: the fence of the run's id rejects its outcomes, and the
 * journal rejects its sends. A dispatcher with newer heartbeats is not ended.
 * @param observed - The number of its heartbeats when it was found dead; null when its row was missing. Default: any.
 */
export async function endDispatcher(pool: Pool, id: string, observed?: number | null) {
  return inTransaction(pool, async tx => {
    const values = [id, observed === undefined, observed]
    const { rows } = await tx.query<{ hadRow: boolean; seenAt: Date | null; isKnown: boolean }>(deleteStatement, values)
    const { hadRow = false, seenAt = null, isKnown = false } = rows[0] ?? {}
    if (!hadRow && isKnown && observed !== undefined) return { undone: [], lost: [], isEnded: false }
    const claims = await readClaims(tx, id, hadRow)
    const unsent = new Set(claims.flatMap(claim => (claim.isUnsent ? [claim.runId] : [])))
    const isAlone = hadRow && claims.length - unsent.size === 1
    const ended = await endClaims(tx, claims, runId => unsent.has(runId), isAlone)
    await forgetPublished(tx, id)
    await keepEnd(tx, seenAt)
    return { ...ended, isEnded: true }
  })
}

// Null for a dispatcher that took no waiting tasks, or whose end has been kept already: see `beatStatement`.
const tookTasksUntil = `CASE WHEN NOT quarantine AND seen_at > '-infinity' THEN seen_at END`

// `isKnown` is as of the snapshot, so it is true for a dispatcher that another scheduler ends at the same time.
const deleteStatement = `
  WITH ended AS (DELETE FROM dispatchers WHERE id = $1 AND ($2 OR beats = $3::float8) RETURNING ${tookTasksUntil} AS seen_at)
  SELECT EXISTS (SELECT FROM ended) AS "hadRow", (SELECT seen_at FROM ended) AS "seenAt",
         EXISTS (SELECT FROM dispatchers WHERE id = $1) AS "isKnown"`

/**
 * Ends claims of a live dispatcher that it does not hold. Undoes those that it never sent. The others count as lost: a
 * failover may have lost their records.
 * @param isHeld - Whether the dispatcher holds the claim of a run.
 * @param isUnsent - Whether it is certain that the run's request was not sent.
 */
export async function recoverStrays(
  pool: Pool,
  id: string,
  isHeld: (runId: string) => boolean,
  isUnsent: (runId: string) => boolean,
): Promise<EndedDispatcher> {
  const text = `
    SELECT id AS "taskId", workspace_id AS "workspaceId", run_id AS "runId" FROM tasks
    WHERE ${isInFlight} AND lease_until >= ${leaseFloor} AND dispatcher_id = $1`
  const { rows } = await pool.query<UnstartedClaim>({ name: 'own_claims', text, values: [id] })
  const strays = rows.filter(({ runId }) => !isHeld(runId))
  if (strays.length === 0) return { undone: [], lost: [] }
  return withWakeUp(pool, await inTransaction(pool, tx => endClaims(tx, strays, isUnsent)))
}

/**
 * Removes a dispatcher that shuts down. Undoes its remaining claims that it never sent. The others count as lost.
 * @param isUnsent - Whether it is certain that the run's request was not sent.
 */
export async function leaveDispatchers(pool: Pool, id: string, isUnsent: (runId: string) => boolean) {
  const left = await inTransaction(pool, async tx => {
    const ended = await endClaims(tx, await readClaims(tx, id, false), isUnsent)
    await forgetPublished(tx, id)
    const text = `DELETE FROM dispatchers WHERE id = $1 RETURNING ${tookTasksUntil} AS "seenAt"`
    const { rows } = await tx.query<{ seenAt: Date | null }>(text, [id])
    await keepEnd(tx, rows[0]?.seenAt ?? null)
    return ended
  })
  return withWakeUp(pool, left)
}

// The permits of the claims are free.
async function withWakeUp(pool: Pool, ended: EndedDispatcher): Promise<EndedDispatcher> {
  const ids = [...ended.undone, ...ended.lost].map(({ taskId }) => taskId)
  if (ids.length > 0) await advanceQueuesOf(pool, ids)
  return ended
}

// At the end of a transaction: heartbeats wait for the row.
async function keepEnd(tx: Transaction, seenAt: Date | null): Promise<void> {
  if (seenAt !== null) await tx.query('UPDATE dispatching SET ended_at = $1 WHERE ended_at < $1', [seenAt])
}

async function endClaims(
  tx: Transaction,
  claims: readonly UnstartedClaim[],
  isUnsent: (runId: string) => boolean,
  isAlone = false,
): Promise<EndedDispatcher> {
  const sent = claims.filter(({ runId }) => !isUnsent(runId))
  const unsent = claims.filter(({ runId }) => isUnsent(runId))
  const undone = await inBatches(unsent, async batch => {
    const waiting = await undoClaims(tx, batch)
    return batch.filter((_, i) => waiting[i] !== null)
  })
  const lost = await inBatches(sent, batch => loseAttempts(tx, batch, isAlone))
  return { undone, lost }
}

// Forgets what a dispatcher has published about its sends and its circuit breakers.
async function forgetPublished(tx: Transaction, id: string): Promise<void> {
  await tx.query('DELETE FROM sends WHERE dispatcher_id = $1', [id])
  const text = 'UPDATE resting_hosts SET probing_until = NULL WHERE dispatcher = $1 AND probing_until IS NOT NULL'
  await tx.query(text, [id])
}

async function readClaims(tx: Transaction, id: string, hasJournal: boolean): Promise<OwnedClaim[]> {
  const text = `
    SELECT t.id AS "taskId", t.workspace_id AS "workspaceId", t.run_id AS "runId",
           $2::boolean AND ${isUnsentSql} AS "isUnsent"
    FROM tasks t WHERE ${isInFlight} AND t.dispatcher_id = $1
    ORDER BY t.id FOR UPDATE`
  return (await tx.query<OwnedClaim>(text, [id, hasJournal])).rows
}

async function inBatches<In, Out>(items: readonly In[], run: (batch: readonly In[]) => Promise<Out[]>): Promise<Out[]> {
  const all: Out[] = []
  for (let i = 0; i < items.length; i += batchSize) all.push(...(await run(items.slice(i, i + batchSize))))
  return all
}
