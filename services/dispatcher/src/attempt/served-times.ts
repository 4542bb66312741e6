import { readLifetimes } from '@belfry/db/dispatchers/read-lifetimes'
import type { Pool } from '@belfry/db/postgres/pool'

/**
 * Opens the check whether a dispatcher took tasks at a time: this one since its start, and before it another one, as far as
 * PostgreSQL still shows that.
 * @param now - When this process became a dispatcher, by the clock of PostgreSQL.
 */
export async function openServedTimes(pool: Pool, dispatcherId: string, now: number): Promise<(at: Date) => boolean> {
  const lifetimes = await readLifetimes(pool, dispatcherId)
  return at => {
    const time = at.getTime()
    return time >= now || lifetimes.some(({ from, to }) => from <= time && time <= to)
  }
}
