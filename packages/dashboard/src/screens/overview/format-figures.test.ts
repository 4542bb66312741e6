import { describe, expect, it } from 'vitest'
import { formatBytes, formatCount, formatRate } from './format-figures.ts'

describe('figures for people', () => {
  it('counts say where counting stopped', () => {
    expect([formatCount(1204, false), formatCount(5000, true)]).toEqual(['1,204', '5,000+'])
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

  it.each([
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1_250, '1.3 kB'],
    [100_000_000, '100 MB'],
    [1_000_000_000_000, '1.0 TB'],
  ])('%d bytes are %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text)
  })
})
