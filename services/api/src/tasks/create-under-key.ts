import type { Db, NewTask, TaskUnderKey, UnderKey } from '@belfry/db'
import { AppError, toId } from '@belfry/domain'
import { executeAtPassed } from './execute-at.ts'
import { presentNewTask, presentTask } from './present-task.ts'
import { isStored } from './store-task.ts'
import { findTask } from './task-row.ts'

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
