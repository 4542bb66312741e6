import type { PageOptions, Timestamp } from './request.ts'

/** The limits of a queue. Omitted limits stay unchanged; null removes one. */
export type QueueLimits = {
  /** Attempts in flight at a time over all dispatchers, 1 to 1,000. */
  maxConcurrent?: number | null
  /** At most `count` attempts (1 to 10,000) start within any period of `periodMs` (100 to 86,400,000 ms). */
  rateLimit?: { count: number; periodMs: number } | null
  /** One task at a time, in the order of `executeAt`; the next one waits for the retries of the one before. */
  ordered?: boolean
}

/** A queue by its name, with limits to set. The last writer wins. */
export type QueueInput = QueueLimits & { name: string }

/** A queue, with what it contains now. */
export type Queue = {
  name: string
  maxConcurrent: number | null
  rateLimit: { count: number; periodMs: number } | null
  ordered: boolean
  /** Since when no task starts, while it is paused. */
  pausedAt: Timestamp | null
  /** Tasks that are due and not started; counted up to 10,000. */
  waiting: number
  inFlight: number
  /** For how long the first waiting task has been due. */
  oldestDueMs: number | null
  createdAt: Timestamp
  updatedAt: Timestamp
}

export type ListQueues = PageOptions & {
  /** A prefix of the name. */
  name?: string
}
