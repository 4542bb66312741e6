import { endExpiredMessages, type Pool, pruneOutbox } from '@belfry/db'
import type { Logger } from '@belfry/runtime'

const keptMs = 7 * 24 * 3_600_000

/** Gives up what could not be sent in time, and removes what ended a week ago. Any number of dispatchers may do so. */
export async function tidyOutbox({ pool, log }: { pool: Pool; log: Logger }): Promise<void> {
  const expired = await endExpiredMessages(pool)
  if (expired > 0) log.warn({ messages: expired }, 'messages.expired')
  await pruneOutbox(pool, keptMs)
}
