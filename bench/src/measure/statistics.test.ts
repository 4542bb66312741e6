import { describe, expect, it } from 'vitest'
import { measured, quantile, ratioOf } from './statistics.ts'

describe('a figure', () => {
  it('is the median of its rounds, with their spread', () => {
    expect(measured([5, 1, 3])).toEqual({ value: 3, min: 1, max: 5 })
    expect(measured([1, 3])).toEqual({ value: 2, min: 1, max: 3 })
  })

  it('compares two sides round by round, not their medians', () => {
    expect(ratioOf([10, 40, 90], [10, 20, 30])).toEqual({ value: 2, min: 1, max: 3 })
  })

  it('does not sort the given values', () => {
    const values = [3, 1, 2]
    expect(quantile(values, 0.5)).toBe(2)
    expect(quantile(values, 1)).toBe(3)
    expect(values).toEqual([3, 1, 2])
  })
})
