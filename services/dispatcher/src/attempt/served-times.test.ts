import type { Pool } from '@belfry/db/postgres/pool'
import { expect, it } from 'vitest'
import { openServedTimes } from './served-times.ts'

it('a dispatcher took tasks except before the first one, between two of them, and while this process stood still', async () => {
  let now = 100_000
  const lifetimes = [{ from: 10_000, to: 20_000 }]
  const pool = { query: async () => ({ rows: lifetimes }) } as unknown as Pool
  const served = await openServedTimes(pool, 'own', { now: () => now })
  const heartbeats = (...pauses: number[]) => {
    for (const pauseMs of pauses) {
      served.rest()
      now += pauseMs
      served.wake()
    }
  }
  heartbeats(1_000, 2_500, 28_000, 1_000)
  const from = (time: number) => served.servedFrom(new Date(time))
  expect([5_000, 15_000, 50_000, 100_000].map(from)).toEqual([100_000, 15_000, 100_000, 100_000])
  expect([102_000, 104_000, 131_000, 132_000].map(from)).toEqual([102_000, 131_500, 131_500, 132_000])
})
