import { setTimeout as sleep } from 'node:timers/promises'
import { isTransientDatabaseError } from '@belfry/db'
import type { Logger } from '@belfry/runtime'

/**
 * Records what became of runs, when the database is back. It is kept until then: no scheduler can end the attempts either
 * meanwhile, and the fence refuses the record if the next attempt has started.
 * @param isHopeless - Errors that waiting does not mend here. Default: those only that it mends nowhere.
 */
export async function outlastOutage<T>(
  { log }: { log: Logger },
  runs: number,
  record: () => Promise<T>,
  isHopeless: (error: unknown) => boolean = () => false,
): Promise<T> {
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    try {
      return await record()
    } catch (error) {
      if (isHopeless(error) || !isTransientDatabaseError(error)) throw error
      log.warn({ err: error, runs }, 'record.waiting_for_database')
      await sleep(pauseMs)
    }
  }
}
