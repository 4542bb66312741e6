import { expect, it } from 'vitest'
import { retryDelay } from './retry-delay.ts'

it('waits longer after each failure, at most a quarter of an hour', () => {
  expect([1, 2, 3, 4, 20, 2_000].map(retryDelay)).toEqual([5_000, 10_000, 20_000, 40_000, 900_000, 900_000])
})
