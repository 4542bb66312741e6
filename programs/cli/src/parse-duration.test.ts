import { expect, it } from 'vitest'
import { parseDuration } from './parse-options.ts'

it.each([
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['2d', 172_800_000],
  ['250ms', 250],
  ['1w', 604_800_000],
])('%s is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

it.each(['', '10', 'm', '10 m', '10x', '-5m', '10m!'])('refuses %j', text => {
  expect(() => parseDuration(text)).toThrow(/not a duration/)
})
