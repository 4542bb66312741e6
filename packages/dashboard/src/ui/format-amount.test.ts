import { expect, it } from 'vitest'
import { formatBytes } from './format-amount.ts'

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
