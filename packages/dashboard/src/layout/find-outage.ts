import type { Status } from '@belfry/contract/status'

/** What a banner reports. `since`: the last sign of life, where one is known. */
export type Outage = { tone: 'bad' | 'warn'; text: string; since: string | null }

/**
 * Returns what keeps Belfry from delivering, the most severe first; null when all is well.
 * @param status - The latest answer of the API.
 * @param errorStatus - The status of the latest request, if it failed; 0 without a response.
 */
export function findOutage(status: Status | undefined, errorStatus: number | null): Outage | null {
  if (errorStatus === 503) {
    return {
      tone: 'bad',
      text: 'The database is unavailable. Stored tasks are safe and will be sent when it returns.',
      since: null,
    }
  }
  if (errorStatus === 0)
    return { tone: 'bad', text: 'Belfry cannot be reached. This page is not up to date.', since: null }
  if (errorStatus !== null || !status) return null
  const { dispatchers, schedulers, queue } = status
  if (dispatchers.live === 0) {
    const text = 'No dispatcher is running. Tasks are safe and will be sent when one returns.'
    return { tone: 'bad', text, since: dispatchers.last_seen_at }
  }
  if (schedulers.live === 0) {
    const text = 'No scheduler is running. Cron jobs create no new tasks, and statistics are not updated.'
    return { tone: 'bad', text, since: schedulers.last_seen_at }
  }
  if (queue === 'down') {
    return { tone: 'warn', text: 'The queue is unavailable. Tasks are still sent, from the database.', since: null }
  }
  return null
}
