import type { InsertedTask, NewTask } from '@belfry/db'
import type { TaskRow } from './task-row.ts'

/** A task that has just been stored, as it would be read. */
export function toTaskRow(task: NewTask, { executeAt, createdAt }: StoredTask): TaskRow {
  return {
    ...task,
    executeAt,
    createdAt,
    updatedAt: createdAt,
    state: 'pending',
    stateReason: null,
    attempts: 0,
    dueAt: executeAt,
    cronJobId: null,
    finishedAt: null,
    lastRunId: null,
    lastRunStatus: null,
    lastRunResponseStatus: null,
    lastRunErrorCode: null,
    lastRunFinishedAt: null,
  }
}

/** What the database says about a task that it took in. */
export type StoredTask = InsertedTask & { createdAt: Date }

/** True unless the database refused the task because its time had come already. */
export function isStored(inserted: InsertedTask | undefined): inserted is StoredTask {
  return inserted !== undefined && inserted.createdAt !== null
}
