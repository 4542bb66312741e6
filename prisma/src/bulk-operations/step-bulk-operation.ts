import { NIL_UUID } from '@belfry/domain/id'
import { type SettleAction, settleDeadLetters } from '../dead-letters/settle-dead-letters.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { type EndAction, endTasks } from '../tasks/end-tasks.ts'
import { matchesOf } from '../tasks/task-filter.ts'
import { type BulkOperation, columns, isEnding, isPrefetched, openTo } from './bulk-operations.ts'

/**
 * `isWaiting`: the operation cannot progress for now, because the step failed or some matching tasks are prefetched:
 * their attempts may still start.
 */
export type BulkStep = {
  id: string
  /** How many tasks were ended or settled. */
  done: number
  /** The tasks that matched a cancel or a stop. */
  ended: string[]
  isWaiting: boolean
  failure?: unknown
}

/**
 * Advances the least recently advanced operation: reads the next `limit` tasks of its workspace, and ends or settles
 * those that match. One transaction also stores the position, so an operation survives the death of a scheduler, and
 * any number of schedulers may call this at once. A cancel or a stop remembers the prefetched tasks that match, and
 * waits at its end until each has started or was ended. Returns null when no operation is open, and a step that failed
 * with its `failure`, so the caller can continue with the other operations.
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
        SELECT ${columns}, cursor, cursor_at AS "cursorAt", next_due_at AS "nextDueAt", undecided FROM bulk_operations
        WHERE ${isOpen} AND id <> ALL ($1::uuid[])
        ORDER BY updated_at LIMIT 1 FOR UPDATE SKIP LOCKED`
      const { rows } = await tx.query<Position>({ name: 'next_operation', text, values: [except] })
      const [operation] = rows
      chosen = operation?.id
      return operation ? await step(tx, operation, limit) : null
    })
  } catch (failure) {
    if (chosen === undefined) throw failure
    return { id: chosen, done: 0, ended: [], isWaiting: true, failure }
  }
}

const isOpen = 'finished_at IS NULL AND held_at IS NULL'

/** The operations that are to be advanced. */
export const openOperations = `SELECT id FROM bulk_operations WHERE ${isOpen}`

type Position = BulkOperation & Marks & { cursor: string | null; cursorAt: Date | null }
type Walk = Pick<Position, 'workspaceId' | 'action' | 'createdAt' | 'cursor' | 'cursorAt' | 'filter'>
type Marks = { nextDueAt: Date | null; undecided: string[] }
/** `executeAt` is null for a prefetched task that is not part of the page. */
type Found = { id: string; executeAt: Date | null; isMatch: boolean | null }

async function step(tx: Transaction, operation: Position, limit: number): Promise<BulkStep> {
  const found = await readPage(tx, operation, limit)
  const page = found.filter(({ executeAt }) => executeAt !== null)
  const matching = found.flatMap(({ id, isMatch }) => (isMatch ? [id] : []))
  const { action } = operation
  const { nextDueAt, undecided, ...result } = isEnding(action)
    ? await end(tx, operation, action, matching)
    : await settle(tx, operation, action, matching)
  const isWaiting = page.length < limit && undecided.length > 0
  const isDone = page.length < limit && !isWaiting
  await advance(tx, operation, { last: page.at(-1), done: result.done, nextDueAt, undecided, isDone })
  return { ...result, isWaiting }
}

// The claim of a prefetched task may be undone when the walk has passed it.
async function readPage(tx: Transaction, operation: Position, limit: number): Promise<Found[]> {
  const { text, values } = pageOf(operation, limit)
  if (!isEnding(operation.action)) return (await tx.query<Found>(text, values)).rows
  const withPrefetched = `
    SELECT * FROM (
      (${text})
      UNION ALL
      SELECT t.id, NULL, true FROM tasks t
      WHERE t.workspace_id = $1 AND ${isPrefetched} AND t.created_at <= $3
        AND ${matchesOf(operation.filter, values)}
    ) found ORDER BY id DESC`
  return (await tx.query<Found>(withPrefetched, values)).rows
}

/**
 * Returns the query of the next tasks of an operation. An id contains the clock of the process that made it, so it says
 * where the walk is, and not what was created when. The walk leaves out tasks that were created or died after its start
 * by the clock of PostgreSQL, e.g. its own replays.
 */
export function pageOf(
  { workspaceId, action, createdAt, cursor, cursorAt, filter: { ids, ...filter } }: Walk,
  limit: number,
): { text: string; values: unknown[] } {
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
    WHERE t.workspace_id = $1 AND ${openTo(action, filter)} AND ${after} AND ${matchesOf({ ids }, values)}
    ORDER BY ${order} LIMIT $2`
  return { text, values }
}

const aboveAllIds = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

type Result = Omit<BulkStep, 'isWaiting'> & Marks

async function end(
  tx: Transaction,
  { id, workspaceId, undecided: remembered }: Position,
  action: EndAction,
  matching: string[],
): Promise<Result> {
  const ids = [...new Set([...remembered, ...matching])]
  const { ended: done, undecided } = await endTasks(tx, workspaceId, ids, action)
  return { id, done, ended: ids, nextDueAt: null, undecided }
}

async function settle(
  tx: Transaction,
  { id, workspaceId, filter, perSecond, nextDueAt: from }: Position,
  action: SettleAction,
  ids: string[],
): Promise<Result> {
  const { deadLetters, replays } = await settleDeadLetters(tx, workspaceId, ids, action, {
    ...{ perSecond, from },
    withCancelled: filter.state_reason !== undefined,
  })
  const dueTimes = replays.map(({ dueAt }) => dueAt.getTime())
  // The replays of the next page are due after the replays of this page.
  const nextDueAt =
    dueTimes.length === 0 ? null : new Date(Math.max(...dueTimes) + Math.ceil(1000 / (perSecond ?? 1000)))
  return { id, done: deadLetters.length, ended: [], nextDueAt, undecided: [] }
}

async function advance(
  tx: Transaction,
  { id }: Position,
  { last, done, nextDueAt, undecided, isDone }: Marks & { last: Found | undefined; done: number; isDone: boolean },
): Promise<void> {
  const text = `
    UPDATE bulk_operations
    SET cursor = coalesce($2, cursor), cursor_at = coalesce($3, cursor_at), done = done + $4,
        total = greatest(total, done + $4), next_due_at = coalesce($5, next_due_at), undecided = $6,
        updated_at = clock_timestamp(), finished_at = CASE WHEN $7 THEN clock_timestamp() END
    WHERE id = $1`
  const values = [id, last?.id ?? null, last?.executeAt ?? null, done, nextDueAt, undecided, isDone]
  await tx.query({ name: 'advance_operation', text, values })
}
