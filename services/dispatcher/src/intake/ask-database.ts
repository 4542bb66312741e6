import { setTimeout as sleep } from 'node:timers/promises'
import { isTransientDatabaseError } from '@belfry/db'
import type { Logger } from '@belfry/runtime'

const longestPauseMs = 1_000

/**
 * Asks the database again and again while it is away. Rejects for any other error, and when the signal is aborted.
 * @param isHopeless - Errors for which asking the same again does not help. Default: none.
 */
export async function askDatabase<Answer>(
  { log }: { log: Logger },
  ask: () => Promise<Answer>,
  signal: AbortSignal,
  isHopeless: (error: unknown) => boolean = () => false,
): Promise<Answer> {
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await ask()
    } catch (error) {
      if (isHopeless(error) || !isTransientDatabaseError(error)) throw error
      log.warn({ err: error }, 'claim.waiting_for_database')
      await sleep(pauseMs, undefined, { signal })
    }
  }
}
