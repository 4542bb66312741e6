import { type InsertedTask, insertTasks, isInTransaction, type NewTask } from '@belfry/db'
import type { Work } from '../http/creation.ts'
import { notStored, toKeptAnswer } from '../http/idempotency.ts'
import type { Reply } from '../http/reply.ts'
import { executeAtPassed } from './execute-at.ts'
import { timeMark } from './insert-batches.ts'

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
