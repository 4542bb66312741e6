import { expect, it } from 'vitest'
import { retryDelays } from './retry-delays.ts'

it('grows as e^2.5n seconds up to a day by default', () => {
  expect(retryDelays(6, undefined)).toEqual([12_000, 148_000, 1_808_000, 22_026_000, 86_400_000, 86_400_000])
  expect(retryDelays(0, undefined)).toEqual([])
})

it.each([
  ['1000', [1000, 1000, 1000]],
  ['1000 * (1 + retried)', [1000, 2000, 3000]],
  ['pow(2, retried) * 1000', [1000, 2000, 4000]],
  ['max(10, min(retried * 7, 12))', [10, 10, 12]],
  ['min(1, 2, 3) + max(4, retried)', [5, 5, 5]],
  ['sqrt(16) + abs(-3) + floor(1.9) + ceil(1.1) + round(1.5)', [12, 12, 12]],
  ['round(exp(retried) * 100)', [100, 272, 739]],
  ['10 - 2 - 3', [5, 5, 5]],
  ['100 / 10 / 2 * 3 % 7', [1, 1, 1]],
  ['2 + 3 * 4', [14, 14, 14]],
  ['-5 + -retried', [0, 0, 0]],
  ['--5', [5, 5, 5]],
  ['.5 * 10', [5, 5, 5]],
  ['1000000000000', [2_592_000_000, 2_592_000_000, 2_592_000_000]],
])('evaluates %j for each retry', (expression, delays) => {
  expect(retryDelays(3, expression)).toEqual(delays)
})

it.each([
  ['', /too early/],
  ['1 +', /too early/],
  ['(1', /not closed/],
  ['pow(1)', /pow needs 2/],
  ['sqrt 4', /needs parentheses/],
  ['min(1', /not closed/],
  ['1 2', /"2" is not expected/],
  ['1)', /"\)" is not expected/],
  ['attempt', /"attempt"/],
  ['constructor(1)', /"constructor"/],
  ['toString', /"toString"/],
  ['process.exit()', /"process"/],
  ['1 / 0', /no value for retried=0/],
  ['sqrt(retried - 1)', /no value for retried=0/],
  ['.', /"\."/],
  ['1'.repeat(400), /more than 300/],
  [`${'('.repeat(40)}1${')'.repeat(40)}`, /too deeply/],
  [`${'-'.repeat(200)}1`, /too deeply/],
])('refuses %j', (expression, reason) => {
  expect(() => retryDelays(2, expression)).toThrow(reason)
})
