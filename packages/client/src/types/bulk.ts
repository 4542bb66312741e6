import type { RunErrorCode } from '../codes.ts'
import type { Id, PageOptions, Timestamp, TimestampInput } from './request.ts'
import type { ListTasks, Source } from './task.ts'

/** The filters of tasks, without `state`, and the host with its port and the error of the last run. */
export type ListDeadLetters = Omit<ListTasks, 'state'> & {
  host?: string | string[]
  error?: RunErrorCode | RunErrorCode[]
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
}

/** What every operation in the background has. */
type Operation = {
  id: Id
  workspaceId: Id
  status: 'running' | 'done' | 'cancelled'
  /** Tasks that matched when it started, of the first 100,000 in the workspace; never less than it has done. */
  total: number
  createdAt: Timestamp
  updatedAt: Timestamp
  finishedAt: Timestamp | null
}

type FilterOfOperation = {
  source: Source[] | null
  cronjobId: Id[] | null
  eventId: Id[] | null
  topic: string[] | null
  label: string[] | null
  queue: string[] | null
  callbackOf: Id[] | null
  name: string | null
  from: Timestamp | null
  to: Timestamp | null
}

/** A cancel, stop, replay or discard of many tasks, in the background. */
export type BulkOperation = Operation & {
  action: BulkAction
  /** The chosen tasks; null: all that match the filter. */
  ids: Id[] | null
  filter: FilterOfOperation & { host: string[] | null; error: RunErrorCode[] | null }
  /** How many of its replays are due per second; null: all at once. */
  perSecond: number | null
  /** Tasks cancelled, stopped, replayed or discarded so far. */
  done: number
}

export type BulkAction = 'cancel' | 'stop' | 'replay' | 'discard'

/**
 * The action, and either the ids of at most 100 tasks or a filter; an empty filter selects all. `perSecond`: how many replays are
 * due per second, at most 1,000. By default all are due at once.
 */
export type StartBulkOperation = { action: BulkAction; perSecond?: number } & (
  | { ids: Id[]; filter?: undefined }
  | { ids?: undefined; filter: Omit<ListDeadLetters, keyof PageOptions> }
)

/** A replay or discard of more than 1,000 dead letters, in the background. */
export type DeadLetterOperation = Operation & {
  action: 'replay' | 'discard'
  filter: {
    cronjobId: Id | null
    topic: string | null
    label: string | null
    from: Timestamp | null
    to: Timestamp | null
    name: string | null
    host: string[] | null
    error: RunErrorCode[] | null
  }
  /** How many of its replays are due per second; null: all at once. */
  perSecond: number | null
  /** Dead letters replayed or discarded so far. */
  settled: number
}

/** `operation` is set when there are too many for one request; see `deadLetters.progress`. */
export type ReplayedDeadLetters = { replayed: number; operation: DeadLetterOperation | null }

/** `operation` is set when there are too many for one request; see `deadLetters.progress`. */
export type DiscardedDeadLetters = { discarded: number; operation: DeadLetterOperation | null }

/** The filters of tasks, without `state`. */
export type TaskFilter = Omit<ListTasks, 'state' | keyof PageOptions>

/** Either the ids of at most 100 tasks, or a filter; an empty filter selects all. */
export type TaskChoice = { ids: Id[]; filter?: undefined } | { ids?: undefined; filter: TaskFilter }

/** A cancel or stop of more than 1,000 tasks, in the background. */
export type TaskOperation = Operation & {
  action: 'cancel' | 'stop'
  filter: FilterOfOperation
  /** Tasks cancelled or stopped so far. */
  ended: number
}

/** `operation` is set when there are too many for one request; see `tasks.progress`. */
export type CancelledTasks = { cancelled: number; operation: TaskOperation | null }

/** `operation` is set when there are too many for one request; see `tasks.progress`. */
export type StoppedTasks = { stopped: number; operation: TaskOperation | null }

/** `isCapped`: there may be more, because at most 100,000 tasks are checked, and 10,000 counted. */
export type TaskCount = { count: number; isCapped: boolean }
