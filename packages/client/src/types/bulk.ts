import type { DeadLetterChoice, StartBulkOperation, TaskChoice } from '../generated/inputs.ts'

/** The filters of tasks to cancel or stop. */
export type TaskFilter = NonNullable<TaskChoice['filter']>

/** The filters of dead letters to replay or discard. */
export type DeadLetterFilter = NonNullable<DeadLetterChoice['filter']>

export type BulkAction = StartBulkOperation['action']
