import { setTimeout as sleep } from 'node:timers/promises'
import { isTransientDatabaseError } from './database-errors.ts'
import { inspectDatabase } from './inspect-database.ts'
import { type Pool, pingPool } from './pool.ts'

export type RetryOptions = {
  /** Receives the error before each pause. */
  onWait: (error: unknown) => void
  /** Whether the same call may succeed later. Default: `isTransientDatabaseError`. */
  isRetryable?: (error: unknown) => boolean
  /** Ends the retries when it is aborted. Optional. */
  signal?: AbortSignal
  /** The first pause in milliseconds; each pause is twice as long as the one before. Default: 50. */
  minPauseMs?: number
  /** The longest pause in milliseconds. Default: 1000. */
  maxPauseMs?: number
  /** Retries start at most this many milliseconds after the first call. Default: unlimited. */
  maxWaitMs?: number
}

/**
 * Calls `ask` until it succeeds, with doubling pauses between the calls. Rejects with the error of the last call when it is
 * not retryable, when the time is over, or when the signal is aborted.
 */
export async function retryDatabase<T>(ask: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { onWait, isRetryable = isTransientDatabaseError, signal, minPauseMs = 50, maxPauseMs = 1_000 } = options
  const giveUpAt = performance.now() + (options.maxWaitMs ?? Number.POSITIVE_INFINITY)
  for (let pauseMs = minPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      return await ask()
    } catch (error) {
      if (!isRetryable(error) || performance.now() + pauseMs > giveUpAt) throw error
      onWait(error)
      await sleep(pauseMs, undefined, signal && { signal }).catch(() => {}) // aborted
      if (signal?.aborted) throw error
    }
  }
}

/** The pauses of a process that starts: a database that comes up takes seconds, not milliseconds. */
export const startupPauses = { minPauseMs: 100, maxPauseMs: 5_000, maxWaitMs: 60_000 }

type Log = { warn(fields: object, event: string): void }

/**
 * Waits until the database answers, for up to a minute, and logs settings with which it may lose committed tasks. Rejects
 * after that time, when the signal is aborted, and at once for an error that is not transient.
 */
export async function waitForDatabase(pool: Pool, log: Log, signal: AbortSignal): Promise<void> {
  const onWait = (error: unknown) => log.warn({ err: error }, 'database.waiting')
  await retryDatabase(() => pingPool(pool), { ...startupPauses, onWait, signal })
  await warnOfUnfitDatabase(pool, log)
}

/** Logs settings with which the server may lose committed tasks. Never rejects, because they do not prevent a start. */
export async function warnOfUnfitDatabase(pool: Pool, log: Log): Promise<void> {
  try {
    const advice = await inspectDatabase(pool)
    if (advice.length > 0) log.warn({ advice }, 'database.unfit')
  } catch (error) {
    log.warn({ err: error }, 'connection.error')
  }
}
