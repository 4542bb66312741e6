import { expect, it } from 'vitest'
import { interleave, measured, quantile, ratioOf } from './statistics.ts'

it('takes the median of the rounds, with their spread', () => {
  expect(measured([5, 1, 3])).toEqual({ value: 3, min: 1, max: 5 })
  expect(measured([1, 3])).toEqual({ value: 2, min: 1, max: 3 })
  expect(quantile([3, 1, 2], 1)).toBe(3)
})

it('compares two sides round by round, not their medians', () => {
  expect(ratioOf([10, 40, 90], [10, 20, 30])).toEqual({ value: 2, min: 1, max: 3 })
})

it('runs every side once a round and reverses the order every other round', async () => {
  const order: string[] = []
  const side = (name: string) => async () => order.push(name)
  const samples = await interleave({ a: side('a'), b: side('b') }, 3)
  expect(order).toEqual(['a', 'b', 'b', 'a', 'a', 'b'])
  expect(samples).toEqual({ a: [1, 4, 5], b: [2, 3, 6] })
})
