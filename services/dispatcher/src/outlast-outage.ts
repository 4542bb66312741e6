import { setTimeout as sleep } from 'node:timers/promises'
import { isTransientDatabaseError } from '@belfry/db'
import type { Logger } from '@belfry/runtime'

const longestOutageMs = 15 * 60_000

/**
 * Records what became of runs, when the database is back. It is kept until then, also beyond the lease: nobody can end
 * the attempts either meanwhile, and the fence refuses the record if somebody was faster.
 * @param isHopeless - Errors that waiting does not mend here. Default: those only that it mends nowhere.
 */
export async function outlastOutage<T>(
  { log }: { log: Logger },
  runs: number,
  record: () => Promise<T>,
  isHopeless: (error: unknown) => boolean = () => false,
): Promise<T> {
  const giveUpAt = performance.now() + longestOutageMs
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    try {
      return await record()
    } catch (error) {
      if (isHopeless(error) || !isTransientDatabaseError(error) || performance.now() > giveUpAt) throw error
      log.warn({ err: error, runs }, 'record.waiting_for_database')
      await sleep(pauseMs)
    }
  }
}
