import { newUuid } from '@belfry/domain'
import type { DeadLetterAction } from '../generated/enums.ts'
import { type Db, inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { isDeadLetter } from '../tasks/task-row.ts'
import { countDeadLetters, type DeadLetterFilter, matches, valuesOfFilter } from './find-dead-letters.ts'
import { type SettledDeadLetters, settleDeadLetters } from './settle-dead-letters.ts'

/** A replay or a discard of many dead letters, in the background. */
export type DeadLetterOperation = DeadLetterFilter & {
  id: string
  workspaceId: string
  action: DeadLetterAction
  /** Dead letters that matched when it began. */
  total: number
  /** Those that it has replayed or discarded so far. */
  settled: number
  cancelled: boolean
  createdAt: Date
  updatedAt: Date
  finishedAt: Date | null
}

const columns = `id, workspace_id AS "workspaceId", action, cron_job_id AS "cronJobId", topic,
  execute_from AS "executeFrom", execute_to AS "executeTo", total, settled, cancelled,
  created_at AS "createdAt", updated_at AS "updatedAt", finished_at AS "finishedAt"`

const beforeAll = '00000000-0000-0000-0000-000000000000'

/** Begins an operation, or finds the one that the workspace has under way: it has one at a time. */
export async function startDeadLetterOperation(
  pool: Pool,
  workspaceId: string,
  action: DeadLetterAction,
  filter: DeadLetterFilter,
): Promise<DeadLetterOperation> {
  const total = await countDeadLetters(pool, workspaceId, filter)
  const text = `
    WITH started AS (
      INSERT INTO dead_letter_operations (id, workspace_id, action, total, cursor, cron_job_id, topic, execute_from,
                                          execute_to)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      ON CONFLICT (workspace_id) WHERE finished_at IS NULL DO NOTHING
      RETURNING *
    )
    SELECT ${columns} FROM started
    UNION ALL
    SELECT ${columns} FROM dead_letter_operations WHERE workspace_id = $2 AND finished_at IS NULL`
  for (;;) {
    const values = [newUuid(), workspaceId, action, total, beforeAll, ...valuesOfFilter(filter)]
    const { rows } = await pool.query<DeadLetterOperation>(text, values)
    if (rows[0]) return rows[0] // none when the other one began or ended in this very moment
  }
}

/** Reads an operation of a workspace. */
export async function findDeadLetterOperation(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<DeadLetterOperation | undefined> {
  const text = `SELECT ${columns} FROM dead_letter_operations WHERE id = $1 AND workspace_id = $2`
  const { rows } = await db.query<DeadLetterOperation>(text, [id, workspaceId])
  return rows[0]
}

/**
 * Ends an operation. Once this is committed it settles nothing more; what it has settled stays settled. Returns false
 * when it had ended already, and for one that the workspace does not have.
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
 * Works on the operation whose turn it is: looks at the next `limit` dead letters of its workspace and settles those that
 * match, in one transaction with how far it came. So it goes on where it was when whoever did this has died, and any
 * number of callers may do it at once. Returns null when there is nothing to do.
 */
export async function stepDeadLetterOperation(pool: Pool, limit: number): Promise<SettledDeadLetters | null> {
  return inTransaction(pool, async tx => {
    const text = `
      SELECT ${columns} FROM dead_letter_operations WHERE finished_at IS NULL
      ORDER BY updated_at LIMIT 1 FOR UPDATE SKIP LOCKED`
    const { rows } = await tx.query<DeadLetterOperation>({ name: 'next_operation', text })
    const operation = rows[0]
    if (!operation) return null
    const seen = await lookOn(tx, operation, limit)
    const meant = seen.flatMap(({ id, isMeant }) => (isMeant ? [id] : []))
    const settled = await settleDeadLetters(tx, operation.workspaceId, meant, operation.action)
    await moveOn(tx, operation, {
      cursor: seen.at(-1)?.id ?? null,
      settled: settled.letters.length,
      isLast: seen.length < limit,
    })
    return settled
  })
}

/** Deletes operations that ended more than 30 days ago, up to `limit`. Returns how many it deleted. */
export async function forgetDeadLetterOperations(pool: Pool, limit: number): Promise<number> {
  const text = `
    DELETE FROM dead_letter_operations WHERE id IN (
      SELECT id FROM dead_letter_operations WHERE finished_at <= now() - interval '30 days'
      ORDER BY finished_at LIMIT $1 FOR UPDATE SKIP LOCKED
    )`
  const { rowCount } = await pool.query(text, [limit])
  return rowCount ?? 0
}

// What died after the operation began is left alone: it may be one of its own replays.
async function lookOn(
  tx: Transaction,
  operation: DeadLetterOperation,
  limit: number,
): Promise<Array<{ id: string; isMeant: boolean }>> {
  const text = `
    SELECT t.id, (t.finished_at <= o.created_at AND ${matches(3)}) AS "isMeant"
    FROM dead_letter_operations o JOIN tasks t ON t.workspace_id = o.workspace_id AND t.id > o.cursor
    WHERE o.id = $1 AND ${isDeadLetter}
    ORDER BY t.id LIMIT $2`
  const values = [operation.id, limit, ...valuesOfFilter(operation)]
  const { rows } = await tx.query<{ id: string; isMeant: boolean }>({ name: 'look_on', text, values })
  return rows
}

async function moveOn(
  tx: Transaction,
  { id, workspaceId }: DeadLetterOperation,
  step: { cursor: string | null; settled: number; isLast: boolean },
): Promise<void> {
  const text = `
    UPDATE dead_letter_operations
    SET cursor = coalesce($3, cursor), settled = settled + $4, updated_at = clock_timestamp(),
        finished_at = CASE WHEN $5 THEN clock_timestamp() END
    WHERE id = $1 AND workspace_id = $2`
  const values = [id, workspaceId, step.cursor, step.settled, step.isLast]
  await tx.query({ name: 'move_on', text, values })
}
