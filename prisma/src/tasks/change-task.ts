import { setTimeout as sleep } from 'node:timers/promises'
import type { TaskState } from '../generated/enums.ts'
import { type Db, inTransaction } from '../postgres/in-transaction.ts'
import { queueIdOf, unblocked } from '../queues/queue-sql.ts'
import { changedRequests } from '../usage/count-storage.ts'
import { type EndAction, endedState, endStatement } from './end-tasks.ts'
import { isUnsent } from './send-journal.ts'
import { changedValue, requestColumnOf, type StoredRequest } from './stored-request.ts'
import { changedLabels } from './task-labels.ts'

/** The new values of a pending task. Absent fields stay as they are. */
export type TaskChange = Partial<StoredRequest> & {
  executeAt?: Date | 'now'
  name?: string
  updatedBy?: string
  /** Null removes the deadline. */
  expiresAt?: Date | null
  labels?: readonly string[]
}

/**
 * `refused` carries the state that forbade the move, or null when the workspace has no such task. `isUnsent`: a dispatcher
 * has prefetched the task and has not started its attempt; see `untilDecided`.
 */
export type MoveResult = { kind: 'moved'; now: Date } | { kind: 'refused'; state: TaskState | null; isUnsent: boolean }

type ChangeResult = MoveResult | { kind: 'not_future' } | { kind: 'never_starts' }

const decisionMs = 15_000
const pauseMs = 25

/**
 * Repeats a move while its result has `isUnsent`: a task is prefetched. So a refusal means that an attempt has really started.
 * The dispatcher starts the attempt or undoes the claim within a second. When the dispatcher has died, that takes about
 * 13 seconds.
 */
export async function untilDecided<R extends object>(move: () => Promise<R>): Promise<R> {
  for (const giveUpAt = performance.now() + decisionMs; ; await sleep(pauseMs)) {
    const result = await move()
    const isUnsent = 'isUnsent' in result && result.isUnsent
    if (!isUnsent || performance.now() > giveUpAt) return result
  }
}

/**
 * Ends one task, as `endTasks` does. Once this returns `moved`, an attempt can never start: a claim needs a pending or
 * retrying task, and the row lock decides between the two (spec 4, rule 3).
 */
export function endTask(db: Db, workspaceId: string, taskId: string, action: EndAction): Promise<MoveResult> {
  return moved(db, endStatement(workspaceId, [taskId], action), [taskId, workspaceId], endedState[action])
}

/**
 * Changes a task that has not started. The statement always rewrites the task's row, so it and a claim of the same task
 * exclude each other. Returns `not_future` when the new time is not later than the database's clock, and `never_starts` when
 * the deadline would not be later than the time.
 */
export async function changePendingTask(db: Db, workspaceId: string, taskId: string, change: TaskChange) {
  if (change.labels === undefined) return changeTask(db, workspaceId, taskId, change)
  return inTransaction(db, async tx => {
    await tx.query('SELECT FROM tasks WHERE id = $1 AND workspace_id = $2 FOR UPDATE', [taskId, workspaceId])
    return changeTask(tx, workspaceId, taskId, change)
  })
}

async function changeTask(db: Db, workspaceId: string, taskId: string, change: TaskChange): Promise<ChangeResult> {
  const isNow = change.executeAt === 'now'
  const values: unknown[] = [taskId, workspaceId, change.executeAt instanceof Date ? change.executeAt : null]
  const timeOr = (column: string) => (isNow ? 'now()' : `coalesce($3::timestamptz, ${column})`)
  const expiresAt = change.expiresAt === undefined ? 'expires_at' : `$${values.push(change.expiresAt)}::timestamptz`
  const sets = new Map<string, string>()
  for (const [field, column] of Object.entries(requestColumns)) {
    const value = change[field as keyof typeof requestColumns]
    if (value !== undefined) sets.set(column, changedValue(column, `$${values.push(value)}`))
  }
  if (change.payload !== undefined) sets.set('is_report', 'NULL')
  // The secret of a subscription proves what was published, to the target of the subscription.
  if (change.payload !== undefined || change.url !== undefined) sets.set('subscription_id', 'NULL')
  const hasCallbacks = change.callbacks === undefined ? '' : ', has_callbacks = true'
  const queued =
    change.queue === undefined ? '' : `, queue_id = ${queueIdOf('workspace_id', `$${values.push(change.queue)}::text`)}`
  const waits = change.queue === undefined && change.executeAt === undefined ? '' : `, waits_for = ${unblocked}`
  const parts = [
    `task AS (
      UPDATE tasks
      SET execute_at = ${timeOr('execute_at')}, due_at = ${timeOr('due_at')}, updated_at = now(),
          expires_at = ${expiresAt}${hasCallbacks}${queued}${waits}
      WHERE id = $1 AND workspace_id = $2 AND state = 'pending' AND ($3::timestamptz IS NULL OR $3 > clock_timestamp())
        AND (${expiresAt} IS NULL OR ${expiresAt} > ${timeOr('execute_at')})
      RETURNING id, workspace_id
    )`,
  ]
  if (change.labels !== undefined) {
    const labels = `$${values.push(change.labels)}`
    sets.set('labels', `nullif(${labels}::text[], '{}')`)
    parts.push(changedLabels(labels))
  }
  if (sets.size > 0) parts.push(changedRequests(sets))
  const text = `
    WITH ${parts.join(',\n    ')}
    SELECT clock_timestamp() AS now FROM task`
  const result = await moved(db, { text, values }, [taskId, workspaceId], 'pending')
  if (result.kind !== 'refused' || result.state !== 'pending') return result
  const isPast = change.executeAt instanceof Date && !(await isFuture(db, change.executeAt))
  return { kind: isPast ? 'not_future' : 'never_starts' }
}

async function isFuture(db: Db, at: Date): Promise<boolean> {
  const { rows } = await db.query<{ is: boolean }>('SELECT $1 > clock_timestamp() AS is', [at])
  return rows[0]?.is ?? false
}

type Statement = { name?: string; text: string; values: unknown[] }

const requestColumns = { name: 'name', ...requestColumnOf, updatedBy: 'updated_by' }

// A claim may be undone between the refusal and the look at the state, so a task that is found in the state `from` is moved
// again. Refused once more, the move has other conditions.
async function moved(
  db: Db,
  move: Statement,
  task: [id: string, workspaceId: string],
  from: TaskState,
): Promise<MoveResult> {
  for (let isAgain = false; ; isAgain = true) {
    const { rows } = await db.query<{ now: Date }>(move)
    if (rows[0]) return { kind: 'moved', now: rows[0].now }
    const text = `
      SELECT state, state = 'processing' AND ${isUnsent} AS "isUnsent" FROM tasks t WHERE id = $1 AND workspace_id = $2`
    const found = await db.query<{ state: TaskState; isUnsent: boolean }>({ name: 'task_state', text, values: task })
    const { state = null, isUnsent: isStillUnsent = false } = found.rows[0] ?? {}
    if (state !== from || isAgain) return { kind: 'refused', state, isUnsent: isStillUnsent }
  }
}
