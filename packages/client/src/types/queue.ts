import type { PageOptions } from './request.ts'

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

export type ListQueues = PageOptions & {
  /** A prefix of the name. */
  name?: string
}
