import { type Db, inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import { changePendingTask } from './change-task.ts'
import { becomesDue, type InsertedTask, insertTasks, type NewTask } from './insert-tasks.ts'
import { requestColumnOf } from './stored-request.ts'

/** What to do with a task whose key a pending task has: refuse it, return the pending task, or give that its request. */
export type OnConflict = 'reject' | 'keep' | 'replace'

/** A task with a key. `onConflict`: default `reject`. */
export type TaskUnderKey = NewTask & { key: string; onConflict?: OnConflict | undefined }

/**
 * - `stored`: the task is new. Its time was in the future, or `createdAt` is null.
 * - `taken`, `kept`: the pending task `id` has the key, and is unchanged.
 * - `replaced`: the pending task `id` has the request, the time, the deadline and the labels of the new one.
 * - `not_future`: the time of a replacement is not later than the database's clock.
 * - `never_starts`: the deadline of a replacement is not later than its time.
 */
export type UnderKey =
  | { kind: 'stored'; inserted: InsertedTask }
  | { kind: 'taken' | 'kept'; id: string }
  | { kind: 'replaced'; id: string; executeAt: Date; now: Date }
  | { kind: 'not_future' | 'never_starts' }

/**
 * Stores tasks of a workspace that have keys, one after the other, in one transaction. Concurrent calls with the same key
 * run one after the other, so a key is unique among the pending tasks of the workspace. A task leaves its key to others
 * when it is claimed: a replacement that comes after the claim is a new task.
 */
export async function storeUnderKeys(db: Db, workspaceId: string, tasks: readonly TaskUnderKey[]): Promise<UnderKey[]> {
  return inTransaction(db, async tx => {
    const keys = tasks.map(({ key }) => key)
    await lockKeys(tx, workspaceId, keys)
    const pending = await findPending(tx, workspaceId, keys)
    const results: UnderKey[] = []
    for (const task of tasks) {
      const store = () => storeLocked(tx, workspaceId, task, pending.get(task.key) ?? null)
      let result = await store()
      if (isPast(result) && becomesDue(task)) result = await store()
      results.push(result)
      if (result.kind === 'stored' && result.inserted.createdAt !== null) pending.set(task.key, result.inserted.id)
    }
    return results
  })
}

function isPast(result: UnderKey): boolean {
  return result.kind === 'not_future' || (result.kind === 'stored' && result.inserted.createdAt === null)
}

// Keys share few locks, because a transaction must not hold a thousand. The order keeps transactions from deadlocks.
const locksPerWorkspace = 64

async function lockKeys(tx: Transaction, workspaceId: string, keys: readonly string[]): Promise<void> {
  const text = `
    SELECT pg_advisory_xact_lock(hashtext($1), slot)
    FROM (SELECT DISTINCT hashtext(key) & ${locksPerWorkspace - 1} AS slot FROM unnest($2::text[]) AS key ORDER BY slot) slots`
  await tx.query({ name: 'lock_task_keys', text, values: [workspaceId, keys] })
}

async function storeLocked(
  tx: Transaction,
  workspaceId: string,
  task: TaskUnderKey,
  id: string | null,
): Promise<UnderKey> {
  const { onConflict = 'reject' } = task
  if (id === null) return insert(tx, task)
  if (onConflict === 'reject') return { kind: 'taken', id }
  if (onConflict === 'keep') return { kind: 'kept', id }
  const result = await changePendingTask(tx, workspaceId, id, {
    name: task.name,
    expiresAt: task.expiresAt ?? null,
    labels: task.labels ?? [],
    ...requestOf(task),
    ...(task.createdBy && { updatedBy: task.createdBy }),
    executeAt: task.executeAt ?? 'now',
  })
  if (result.kind === 'moved') return { kind: 'replaced', id, executeAt: task.executeAt ?? result.now, now: result.now }
  if (result.kind === 'refused') return insert(tx, task) // it was claimed meanwhile
  return result
}

async function findPending(tx: Transaction, workspaceId: string, keys: readonly string[]) {
  const text = `
    SELECT DISTINCT ON (key) key, id FROM tasks
    WHERE workspace_id = $1 AND key = ANY ($2::text[]) AND finished_at IS NULL
      AND state NOT IN ('processing', 'retrying', 'success', 'dead', 'cancelled')
    ORDER BY key, id DESC`
  const values = [workspaceId, keys]
  const { rows } = await tx.query<{ key: string; id: string }>({ name: 'find_tasks_by_key', text, values })
  return new Map(rows.map(({ key, id }) => [key, id]))
}

async function insert(tx: Transaction, task: NewTask): Promise<UnderKey> {
  const [inserted] = await insertTasks(tx, [task])
  if (!inserted) throw new Error('The insert returned no row for the task.')
  return { kind: 'stored', inserted }
}

// Fields that the new request does not have are removed.
function requestOf(task: NewTask) {
  const fields = Object.keys(requestColumnOf) as Array<keyof typeof requestColumnOf>
  const request = Object.fromEntries(fields.map(field => [field, task[field] ?? null]))
  request.callbacks = allCallbacksOf(task)
  return request as Pick<NewTask, keyof typeof requestColumnOf>
}

// A change of callbacks keeps those that it does not name.
function allCallbacksOf({ callbacks }: NewTask): string | null {
  if (!callbacks) return null
  return JSON.stringify({ on_success: null, on_failure: null, on_attempt: null, ...JSON.parse(callbacks) })
}
