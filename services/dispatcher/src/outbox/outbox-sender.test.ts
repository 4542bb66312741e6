import { expect, it } from 'vitest'
import { retryDelay } from './outbox-sender.ts'

it('waits longer after each failure, up to 15 minutes', () => {
  expect([1, 2, 3, 4, 20, 2_000].map(retryDelay)).toEqual([5_000, 10_000, 20_000, 40_000, 900_000, 900_000])
})
