import { type Db, isInTransaction } from '@belfry/db/postgres/in-transaction'
import { type InsertedTask, insertTasks, type NewTask } from '@belfry/db/tasks/insert-tasks'
import type { TaskUnderKey, UnderKey } from '@belfry/db/tasks/store-under-key'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import type { Work } from '../endpoint.ts'
import { notStored, toKeptAnswer } from '../http/idempotency.ts'
import type { Reply } from '../http/reply.ts'
import { timeMark } from './insert-batches.ts'
import { executeAtPassed } from './new-task.ts'
import { presentNewTask, presentTask } from './present-task.ts'
import { findTask } from './task-row.ts'

/** A task that the database has stored. */
export type StoredTask = InsertedTask & { createdAt: Date }

/** Returns whether the database stored a task. It stores no task whose time has come already. */
export function isStored(inserted: InsertedTask | undefined): inserted is StoredTask {
  return inserted !== undefined && inserted.createdAt !== null
}

type Present = (createdAt: string) => Reply

/**
 * Stores one task: in the transaction of the creation if it has one, or in a statement that stores the tasks of many
 * requests.
 * @param present - Makes the reply out of the time at which the task was stored.
 * @param arrivedAt - When the request arrived. Default: now.
 * @throws AppError `validation_failed` when the time of the task has come already, `unavailable` when it came meanwhile.
 */
export async function storeTask(
  work: Pick<Work, 'db' | 'keyed' | 'insertBatches'>,
  task: NewTask,
  present: Present,
  arrivedAt = Number.POSITIVE_INFINITY,
): Promise<{ stored: StoredTask; reply: Reply }> {
  const stored = work.keyed
    ? await storeWithReply(work, work.keyed, task, present)
    : await storeAlone(work, task, arrivedAt)
  return { stored, reply: present(stored.createdAt.toISOString()) }
}

async function storeAlone({ db, insertBatches }: Pick<Work, 'db' | 'insertBatches'>, task: NewTask, arrivedAt: number) {
  const inserted = isInTransaction(db) ? (await insertTasks(db, [task]))[0] : await insertBatches.insertTask(task)
  if (!inserted) throw new Error('The insert returned no row for the task.')
  if (!isStored(inserted)) throw executeAtPassed(task.executeAt, arrivedAt)
  return inserted
}

async function storeWithReply(
  { db, insertBatches }: Pick<Work, 'db' | 'insertBatches'>,
  request: NonNullable<Work['keyed']>,
  task: NewTask,
  present: Present,
) {
  // A transaction that was opened on the way would not store the reply.
  if (isInTransaction(db)) throw notStored
  const stored = await insertBatches.insertKeyedTask({ task, request, answer: toKeptAnswer(present(timeMark)) })
  if (!isStored(stored)) throw notStored
  return stored
}

/** Returns whether a task has a key. */
export function hasKey<T extends NewTask>(task: T): task is T & TaskUnderKey {
  return typeof task.key === 'string'
}

/**
 * Returns the task that has the key now, in its public form.
 * @param arrivedAt - When the request arrived.
 * @throws AppError `key_in_use`, `validation_failed` when the time of the task has come already, or `unavailable` when it
 * came meanwhile.
 */
export async function presentUnderKey(db: Db, task: TaskUnderKey, result: UnderKey, arrivedAt: number) {
  if (result.kind === 'stored') {
    if (!isStored(result.inserted)) throw executeAtPassed(task.executeAt, arrivedAt)
    return presentNewTask(task, result.inserted.createdAt.toISOString())
  }
  if (result.kind === 'not_future') throw executeAtPassed(task.executeAt, arrivedAt)
  if (result.kind === 'taken') throw keyInUse(task.key, toId('task', result.id))
  const row = await findTask(db, task.workspaceId, result.id)
  if (!row) throw new Error('The task with the key is gone.')
  return presentTask(row)
}

/** Returns when the task of a key is due, and the database's clock; null when nothing has changed. */
export function dueUnderKey(task: TaskUnderKey, result: UnderKey) {
  if (result.kind === 'stored' && isStored(result.inserted)) {
    const { executeAt: dueAt, now } = result.inserted
    return { row: { ...task, dueAt }, now }
  }
  if (result.kind !== 'replaced') return null
  return { row: { id: result.id, dueAt: result.executeAt }, now: result.now }
}

function keyInUse(key: string, taskId: string): AppError {
  const message = `The pending task ${taskId} has the key ${key}. Send on_conflict to keep or replace it.`
  return new AppError('key_in_use', message, { extra: { task_id: taskId } })
}
