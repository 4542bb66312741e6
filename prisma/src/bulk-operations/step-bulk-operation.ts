import { NIL_UUID } from '@belfry/domain/id'
import { type SettleAction, settleDeadLetters } from '../dead-letters/settle-dead-letters.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { type EndAction, endTasks } from '../tasks/end-tasks.ts'
import { matchesOf } from '../tasks/task-filter.ts'
import { type BulkOperation, columns, isEnding, openTo } from './bulk-operations.ts'

/**
 * `isWaiting`: it makes no progress for now. Prefetched tasks match, and it is not decided whether their attempts start, or the
 * step failed.
 */
export type BulkStep = {
  id: string
  /** How many tasks were ended or settled. */
  done: number
  /** The tasks that matched a cancel or a stop. */
  ended: string[]
  /** The settled dead letters. */
  settled: string[]
  isWaiting: boolean
  /** Why the step failed. */
  failure?: unknown
}

/**
 * Advances the least recently advanced operation: reads the next `limit` tasks of its workspace, and ends or settles those that
 * match. One transaction also stores the position, so an operation survives the death of a scheduler, and any number of
 * schedulers may call this at once. A cancel or a stop begins again at its end while prefetched tasks match. Returns null when
 * no operation is open, and a step that failed with its `failure`, so the caller can continue with the other operations.
 * @param except - The ids of operations to leave out.
 */
export async function stepBulkOperation(
  pool: Pool,
  limit: number,
  except: readonly string[] = [],
): Promise<BulkStep | null> {
  let chosen: string | undefined
  try {
    return await inTransaction(pool, async tx => {
      const text = `
        SELECT ${columns}, cursor, cursor_at AS "cursorAt", next_due_at AS "nextDueAt" FROM bulk_operations
        WHERE ${isOpen} AND id <> ALL ($1::uuid[])
        ORDER BY updated_at LIMIT 1 FOR UPDATE SKIP LOCKED`
      const { rows } = await tx.query<Position>({ name: 'next_operation', text, values: [except] })
      const [operation] = rows
      chosen = operation?.id
      return operation ? await step(tx, operation, limit) : null
    })
  } catch (failure) {
    if (chosen === undefined) throw failure
    return { id: chosen, done: 0, ended: [], settled: [], isWaiting: true, failure }
  }
}

const isOpen = 'finished_at IS NULL AND held_at IS NULL'

/** The operations that are to be advanced. */
export const openOperations = `SELECT id FROM bulk_operations WHERE ${isOpen}`

type Position = BulkOperation & { cursor: string | null; cursorAt: Date | null; nextDueAt: Date | null }
type Page = Array<{ id: string; executeAt: Date; isMatch: boolean | null }>
type Result = BulkStep & { nextDueAt: Date | null }

async function step(tx: Transaction, operation: Position, limit: number): Promise<BulkStep> {
  const page = await readPage(tx, operation, limit)
  const matching = page.flatMap(({ id, isMatch }) => (isMatch ? [id] : []))
  const isLast = page.length < limit
  const { action } = operation
  const { nextDueAt, ...result } = isEnding(action)
    ? await end(tx, operation, action, matching, isLast)
    : await settle(tx, operation, action, matching)
  await advance(tx, operation, { last: isLast ? undefined : page.at(-1), nextDueAt, ...result })
  return result
}

// An id contains the clock of the process that made it, so it says where the walk is, and not what was created when. By the
// clock of PostgreSQL, the walk leaves out tasks that were created or died after the start, which its own replays may be.
async function readPage(tx: Transaction, operation: Position, limit: number): Promise<Page> {
  const { workspaceId, action, createdAt, cursor, cursorAt } = operation
  const { ids, ...filter } = operation.filter
  const values: unknown[] = [workspaceId, limit, createdAt, cursor ?? (isEnding(action) ? aboveAllIds : NIL_UUID)]
  const newestFirst = { time: 't.created_at', after: 't.id < $4', order: 't.workspace_id, t.state, t.id DESC' }
  // The copies start while the operation runs.
  const inOrderOfQueue = () => ({
    time: 't.finished_at',
    after: `(t.execute_at, t.id) > (coalesce($${values.push(cursorAt)}::timestamptz, '-infinity'), $4)`,
    order: 't.workspace_id, t.execute_at, t.id',
  })
  const { time, after, order } = isEnding(action) ? newestFirst : inOrderOfQueue()
  const text = `
    SELECT t.id, t.execute_at AS "executeAt", (${time} <= $3 AND ${matchesOf(filter, values)}) AS "isMatch" FROM tasks t
    WHERE t.workspace_id = $1 AND ${openTo[action]} AND ${after} AND ${matchesOf({ ids }, values)}
    ORDER BY ${order} LIMIT $2`
  return (await tx.query<Page[number]>(text, values)).rows
}

const aboveAllIds = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

async function end(
  tx: Transaction,
  operation: BulkOperation,
  action: EndAction,
  ids: string[],
  isLast: boolean,
): Promise<Result> {
  const { id, workspaceId } = operation
  const { ended } = await endTasks(tx, workspaceId, ids, action)
  const prefetched = await endTasks(tx, workspaceId, isLast ? await findPrefetched(tx, operation) : [], action)
  const isWaiting = prefetched.undecided > 0
  return { id, done: ended + prefetched.ended, ended: ids, settled: [], isWaiting, nextDueAt: null }
}

// Tasks that were prefetched when the operation came by, and may wait again.
async function findPrefetched(tx: Transaction, { workspaceId, filter, createdAt }: BulkOperation): Promise<string[]> {
  const values: unknown[] = [workspaceId, createdAt]
  const text = `
    SELECT t.id FROM tasks t
    WHERE t.workspace_id = $1 AND t.state = 'processing' AND t.prefetched AND t.created_at <= $2
      AND ${matchesOf(filter, values)}`
  return (await tx.query<{ id: string }>(text, values)).rows.map(({ id }) => id)
}

async function settle(
  tx: Transaction,
  { id, workspaceId, perSecond, nextDueAt: from }: Position,
  action: SettleAction,
  ids: string[],
): Promise<Result> {
  const { deadLetters, replays } = await settleDeadLetters(tx, workspaceId, ids, action, { perSecond, from })
  const dueTimes = replays.map(({ dueAt }) => dueAt.getTime())
  // The replays of the next page are due after those of this one.
  const nextDueAt =
    dueTimes.length === 0 ? null : new Date(Math.max(...dueTimes) + Math.ceil(1000 / (perSecond ?? 1000)))
  return { id, done: deadLetters.length, ended: [], settled: deadLetters, isWaiting: false, nextDueAt }
}

async function advance(
  tx: Transaction,
  { id }: Position,
  step: Result & { last: Page[number] | undefined },
): Promise<void> {
  const text = `
    UPDATE bulk_operations
    SET cursor = $2, cursor_at = $3, done = done + $4, total = greatest(total, done + $4),
        next_due_at = coalesce($5, next_due_at), updated_at = clock_timestamp(),
        finished_at = CASE WHEN $6 THEN clock_timestamp() END
    WHERE id = $1`
  const { last, done, nextDueAt, isWaiting } = step
  const isDone = last === undefined && !isWaiting
  const values = [id, last?.id ?? null, last?.executeAt ?? null, done, nextDueAt, isDone]
  await tx.query({ name: 'advance_operation', text, values })
}
