import { NIL_UUID, newUuid } from '@belfry/domain/id'
import type { DeadLetterAction } from '../generated/enums.ts'
import { type Db, inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { isDeadLetter } from '../tasks/task-row.ts'
import { countDeadLetters, type DeadLetterFilter, matches, valuesOfFilter } from './find-dead-letters.ts'
import { type SettledDeadLetters, settleDeadLetters } from './settle-dead-letters.ts'

/** A replay or a discard of many dead letters that runs in the background. */
export type DeadLetterOperation = DeadLetterFilter & {
  id: string
  workspaceId: string
  action: DeadLetterAction
  /** How many dead letters matched at the start. */
  total: number
  /** How many it has replayed or discarded so far. */
  settled: number
  /** How many replays are due per second; null: all at once. */
  perSecond: number | null
  /** When the next replay is due, with `perSecond`. */
  nextDueAt: Date | null
  cancelled: boolean
  createdAt: Date
  updatedAt: Date
  finishedAt: Date | null
}

const columns = `id, workspace_id AS "workspaceId", action, cron_job_id AS "cronJobId", topic,
  execute_from AS "executeFrom", execute_to AS "executeTo", label, filter, total, settled, per_second AS "perSecond",
  next_due_at AS "nextDueAt", cancelled,
  created_at AS "createdAt", updated_at AS "updatedAt", finished_at AS "finishedAt"`

/** Starts an operation. A workspace has one at a time, so it returns the running one if there is one. */
export async function startDeadLetterOperation(
  pool: Pool,
  workspaceId: string,
  action: DeadLetterAction,
  filter: DeadLetterFilter,
  perSecond: number | null = null,
): Promise<DeadLetterOperation> {
  const total = await countDeadLetters(pool, workspaceId, filter)
  const text = `
    WITH started AS (
      INSERT INTO dead_letter_operations (id, workspace_id, action, total, cursor, cron_job_id, topic, execute_from,
                                          execute_to, label, filter, per_second)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      ON CONFLICT (workspace_id) WHERE finished_at IS NULL DO NOTHING
      RETURNING *
    )
    SELECT ${columns} FROM started
    UNION ALL
    SELECT ${columns} FROM dead_letter_operations WHERE workspace_id = $2 AND finished_at IS NULL`
  const { cronJobId, topic, executeFrom, executeTo, label } = filter
  const values = [action, total, NIL_UUID, cronJobId, topic, executeFrom, executeTo, label, filter, perSecond]
  for (;;) {
    const { rows } = await pool.query<Row>(text, [newUuid(), workspaceId, ...values])
    if (rows[0]) return toOperation(rows[0]) // no row when the other one started or ended during this statement
  }
}

/** Reads an operation of a workspace. */
export async function findDeadLetterOperation(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<DeadLetterOperation | undefined> {
  const text = `SELECT ${columns} FROM dead_letter_operations WHERE id = $1 AND workspace_id = $2`
  const { rows } = await db.query<Row>(text, [id, workspaceId])
  return rows[0] && toOperation(rows[0])
}

/**
 * Cancels an operation. It settles no more dead letters after this; those already settled stay settled. Returns false when
 * the operation has ended already or the workspace has no such operation.
 */
export async function cancelDeadLetterOperation(pool: Pool, workspaceId: string, id: string): Promise<boolean> {
  const text = `
    UPDATE dead_letter_operations
    SET cancelled = true, finished_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE id = $1 AND workspace_id = $2 AND finished_at IS NULL`
  const { rowCount } = await pool.query(text, [id, workspaceId])
  return rowCount === 1
}

/**
 * Advances the least recently advanced operation: reads the next `limit` dead letters of its workspace and settles those that
 * match. One transaction also stores the position, so an operation survives the death of a scheduler, and any number of
 * schedulers may call this at once. Returns null when no operation is open.
 */
export async function stepDeadLetterOperation(pool: Pool, limit: number): Promise<SettledDeadLetters | null> {
  return inTransaction(pool, async tx => {
    const text = `
      SELECT ${columns} FROM dead_letter_operations WHERE finished_at IS NULL AND held_at IS NULL
      ORDER BY updated_at LIMIT 1 FOR UPDATE SKIP LOCKED`
    const { rows } = await tx.query<Row>({ name: 'next_operation', text })
    if (!rows[0]) return null
    const operation = toOperation(rows[0])
    const page = await readPage(tx, operation, limit)
    const matching = page.flatMap(({ id, isMatch }) => (isMatch ? [id] : []))
    const pace = operation.perSecond === null ? null : { perSecond: operation.perSecond, from: operation.nextDueAt }
    const settled = await settleDeadLetters(tx, operation.workspaceId, matching, operation.action, pace)
    await advance(tx, operation, {
      nextDueAt: pace && nextDueAfter(settled.replays, pace.perSecond),
      cursor: page.at(-1)?.id ?? null,
      settled: settled.deadLetters.length,
      isLast: page.length < limit,
    })
    return settled
  })
}

type Row = Omit<DeadLetterOperation, 'name' | 'hosts' | 'errors'> & { filter: DeadLetterFilter | null }

function nextDueAfter(replays: SettledDeadLetters['replays'], perSecond: number): Date | null {
  if (replays.length === 0) return null
  const lastDueAt = replays.reduce((last, { dueAt }) => Math.max(last, dueAt.getTime()), 0)
  return new Date(lastDueAt + Math.ceil(1000 / perSecond))
}

// The other members of the filter have columns.
function toOperation({ filter, ...row }: Row): DeadLetterOperation {
  return { ...row, name: filter?.name ?? null, hosts: filter?.hosts ?? null, errors: filter?.errors ?? null }
}

// Tasks that died after the start of the operation do not match: they may be its own replays.
async function readPage(
  tx: Transaction,
  operation: DeadLetterOperation,
  limit: number,
): Promise<Array<{ id: string; isMatch: boolean }>> {
  const text = `
    SELECT t.id, (t.finished_at <= o.created_at AND ${matches(3)}) AS "isMatch"
    FROM dead_letter_operations o JOIN tasks t ON t.workspace_id = o.workspace_id AND t.id > o.cursor
    WHERE o.id = $1 AND ${isDeadLetter}
    ORDER BY t.id LIMIT $2`
  const values = [operation.id, limit, ...valuesOfFilter(operation)]
  const { rows } = await tx.query<{ id: string; isMatch: boolean }>({ name: 'read_dead_letters', text, values })
  return rows
}

async function advance(
  tx: Transaction,
  { id, workspaceId }: DeadLetterOperation,
  step: { cursor: string | null; settled: number; isLast: boolean; nextDueAt: Date | null },
): Promise<void> {
  const text = `
    UPDATE dead_letter_operations
    SET cursor = coalesce($3, cursor), settled = settled + $4, updated_at = clock_timestamp(),
        finished_at = CASE WHEN $5 THEN clock_timestamp() END, next_due_at = coalesce($6, next_due_at)
    WHERE id = $1 AND workspace_id = $2`
  const values = [id, workspaceId, step.cursor, step.settled, step.isLast, step.nextDueAt]
  await tx.query({ name: 'advance_operation', text, values })
}
