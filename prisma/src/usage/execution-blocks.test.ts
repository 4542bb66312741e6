import { expect, it } from 'vitest'
import { blockSize } from './execution-blocks.ts'

it.each([
  ['a full block far from the limit', 10_000_000, 1, 5_000],
  ['as many as wanted, when that is more than a block', 10_000_000, 5_001, 5_001],
  ['a sixteenth of the remaining executions', 8_000, 1, 500],
  ['as many as wanted, when that is more than a sixteenth', 8_000, 501, 501],
  ['one by one near the limit', 15, 1, 1],
  ['all remaining executions, when more are wanted', 100, 512, 100],
  ['none, when none are left', 0, 512, 0],
  ['none under a lower tier than before', -5, 512, 0],
  ['none, when none are wanted near the limit', 15, 0, 0],
])('%s', (_case, left, wanted, block) => {
  expect(blockSize(left, wanted)).toBe(block)
})

it('the blocks of many dispatchers add up to the monthly limit in fewer than 150 steps', () => {
  let [left, steps] = [10_000, 0]
  while (left > 0) {
    left -= blockSize(left, 1)
    steps++
  }
  expect(left).toBe(0)
  expect(steps).toBeLessThan(150)
})
