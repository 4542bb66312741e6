import { expect, it } from 'vitest'
import { blockSize } from './execution-blocks.ts'

it.each([
  ['far from the limit: a full block', 10_000_000, 1, 5_000],
  ['what is wanted, when that is more than a block', 10_000_000, 5_001, 5_001],
  ['a sixteenth of what is left', 8_000, 1, 500],
  ['what is wanted, when that is more than a sixteenth', 8_000, 501, 501],
  ['one by one at the end', 15, 1, 1],
  ['all that is left, when more is wanted', 100, 512, 100],
  ['nothing, when nothing is left', 0, 512, 0],
  ['nothing under a lower tier than before', -5, 512, 0],
  ['nothing, when nothing is wanted at the end', 15, 0, 0],
])('%s', (_case, left, wanted, block) => {
  expect(blockSize(left, wanted)).toBe(block)
})

it('the blocks of a month of many dispatchers add up to the limit, in some hundred steps', () => {
  let [left, steps] = [10_000, 0]
  while (left > 0) {
    left -= blockSize(left, 1)
    steps++
  }
  expect(left).toBe(0)
  expect(steps).toBeLessThan(150)
})
