import type { Task } from '@belfry/contract/task'
import { payloadOf } from './payload-of.ts'
import { taskForm } from './task-form.ts'
import type { TaskRow } from './task-row.ts'

/** Returns the public form of a task. */
export function presentTask(row: TaskRow): Task {
  return taskForm({ ...row, payload: payloadOf(row, row.id, row.executeAt) })
}
