import type { Task } from '@belfry/contract/task'
import { payloadOf } from './payload-of.ts'
import { taskForm } from './task-form.ts'
import type { TaskRow } from './task-row.ts'

export function presentTask(row: TaskRow): Task {
  return taskForm({ ...row, payload: payloadOf(row, row.id, row.executeAt) })
}
