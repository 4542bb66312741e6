import type { RunErrorCode } from '../codes.ts'
import type { Id, PageOptions, TimestampInput } from './request.ts'
import type { ListTasks } from './task.ts'

/** The filters of tasks, without `state`, and the error of the last run. */
export type ListDeadLetters = Omit<ListTasks, 'state' | 'upcoming'> & {
  error?: RunErrorCode | RunErrorCode[]
  /** Statuses of the last run, such as `'500'`, or classes, such as `'5xx'`. */
  responseStatus?: string | string[]
}

/** Either the ids of at most 100 dead letters, or a filter; an empty filter selects all. */
export type DeadLetterChoice = { ids: Id[]; filter?: undefined } | { ids?: undefined; filter: DeadLetterFilter }

/** `perSecond`: how many of the replays are due per second, at most 1,000. By default all are due at once. */
export type ReplayChoice = DeadLetterChoice & { perSecond?: number }

/** `from` ≤ `executeAt` < `to`. */
export type DeadLetterFilter = {
  cronjobId?: Id
  topic?: string
  label?: string
  from?: TimestampInput
  to?: TimestampInput
  /** A prefix. */
  name?: string
  /** With its port. */
  host?: string | string[]
  /** Of the last run. */
  error?: RunErrorCode | RunErrorCode[]
  /** Statuses of the last run, such as `'500'`, or classes, such as `'5xx'`. */
  responseStatus?: string | string[]
}

export type BulkAction = 'cancel' | 'stop' | 'replay' | 'discard'

/**
 * The action, and either the ids of at most 100 tasks or a filter; an empty filter selects all. `perSecond`: how many replays are
 * due per second, at most 1,000. By default all are due at once.
 */
export type StartBulkOperation = { action: BulkAction; perSecond?: number } & (
  | { ids: Id[]; filter?: undefined }
  | { ids?: undefined; filter: Omit<ListDeadLetters, keyof PageOptions> & Pick<ListTasks, 'upcoming'> }
)

/** The filters of tasks, without `state`. */
export type TaskFilter = Omit<ListTasks, 'state' | 'stateReason' | keyof PageOptions>

/** Either the ids of at most 100 tasks, or a filter; an empty filter selects all. */
export type TaskChoice = { ids: Id[]; filter?: undefined } | { ids?: undefined; filter: TaskFilter }
