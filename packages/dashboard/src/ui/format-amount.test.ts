import { expect, it } from 'vitest'
import { formatBytes, formatCounted, formatRate } from './format-amount.ts'

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1 kB'],
  [1_549, '1.5 kB'],
  [100_000_000, '100 MB'],
  [1e12, '1 TB'],
  [2.5e18, '2,500 PB'],
])('%d bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

it('marks a count that stopped early', () => {
  expect([formatCounted(1204, false), formatCounted(5000, true)]).toEqual(['1,204', '5,000+'])
})

it.each([
  [0, 0, '–'],
  [10, 10, '100%'],
  [99_999, 100_000, '99.99%'],
  [999_999, 1_000_000, '99.99%'],
  [3, 4, '75.0%'],
  [0, 4, '0%'],
  [2, 200_000_000, '< 0.1%'],
])('%d of %d is %s', (part, whole, text) => {
  expect(formatRate(part, whole)).toBe(text)
})
