import { readLifetimes } from '@belfry/db/dispatchers/heartbeat'
import type { Pool } from '@belfry/db/postgres/pool'

// A pause between two heartbeats takes a second.
const standstillMs = 3_000
const maxStandstills = 10

/**
 * Opens the times when a dispatcher took tasks, by the clock of PostgreSQL in epoch milliseconds: the times of this process
 * since its start and, from before, the times of others that PostgreSQL still shows.
 */
export async function openServedTimes(pool: Pool, dispatcherId: string, { now }: { now(): number }) {
  const startedAt = now()
  const lifetimes = await readLifetimes(pool, dispatcherId)
  const standstills: Array<{ from: number; to: number }> = []
  let restsSince = startedAt
  const contains =
    (time: number) =>
    ({ from, to }: { from: number; to: number }) =>
      from <= time && time <= to
  return {
    /** Returns the first time, from `at` on, when a dispatcher took tasks, as far as this process knows. */
    servedFrom(at: Date): number {
      const time = at.getTime()
      if (time < startedAt) return lifetimes.some(contains(time)) ? time : startedAt
      return standstills.find(contains(time))?.to ?? time
    },
    /** Called when the pause before a heartbeat begins. */
    rest(): void {
      restsSince = now()
    },
    /** Called when that pause is over. A long one shows that this process stood still, because it or its machine was frozen. */
    wake(): void {
      if (now() - restsSince < standstillMs) return
      standstills.push({ from: restsSince, to: now() })
      if (standstills.length > maxStandstills) standstills.shift()
    },
  }
}
