import { describe, expect, it } from 'vitest'
import { formatCounted, formatRate } from './format-figures.ts'

describe('figures for people', () => {
  it('counts say where counting stopped', () => {
    expect([formatCounted(1204, false), formatCounted(5000, true)]).toEqual(['1,204', '5,000+'])
  })

  it.each([
    [0, 0, '–'],
    [10, 10, '100 %'],
    [99_999, 100_000, '99.99 %'],
    [999_999, 1_000_000, '99.99 %'],
    [3, 4, '75.0 %'],
    [0, 4, '0 %'],
    [2, 200_000_000, '< 0.1 %'],
  ])('%d of %d is %s', (part, whole, text) => {
    expect(formatRate(part, whole)).toBe(text)
  })
})
