import { expect, it } from 'vitest'
import {
  checkRetry,
  describeDelays,
  retryBodyOf,
  retryCount,
  retryDraftOf,
  retryPresets,
  retryTimes,
} from './retry-draft.ts'

const draft = retryDraftOf()
const policy = { max_retries: 5, backoff: 'exponential', base_delay_ms: 10_000, max_delay_ms: 3_600_000 } as const
const custom = (delaysSeconds: string) => ({ ...draft, backoff: 'custom' as const, delaysSeconds })

it('starts with the policy of a new task', () => {
  expect(checkRetry(draft)).toEqual({})
  expect(retryBodyOf(draft)).toEqual({ retry: policy, timeout_ms: 30_000 })
})

it.each([policy, { delays_ms: [0, 1_500, 2_592_000_000] }])('becomes a body, and comes back from one: %j', retry => {
  expect(retryBodyOf(retryDraftOf(retry, 5_000))).toEqual({ retry, timeout_ms: 5_000 })
})

it('has retries that start one delay after another, each at most the max delay', () => {
  expect(retryTimes(draft)).toEqual([10_000, 50_000, 210_000, 850_000, 3_410_000])
  const linear = { ...draft, backoff: 'linear' as const, maxRetries: '3', maxDelaySeconds: '15' }
  expect(retryTimes(linear)).toEqual([10_000, 25_000, 40_000])
  expect(retryTimes({ ...draft, maxRetries: '' })).toEqual([])
  expect(retryTimes({ ...draft, baseDelaySeconds: 'x' })).toEqual([])
})

it('has one retry after each custom delay', () => {
  expect(retryTimes(custom('1, 2.5 60,'))).toEqual([1_000, 3_500, 63_500])
  expect(retryTimes(custom(''))).toEqual([])
})

it.each(['', ',', 'x', '1,-1', '2592001', Array(21).fill('1').join()])('refuses the custom delays %j', delays => {
  expect(Object.keys(checkRetry(custom(delays)))).toEqual(['retry.delays_ms'])
})

it('describes a stored policy', () => {
  expect([retryCount(policy), describeDelays(policy)]).toEqual([5, 'exponential, 10 s to 1 h'])
  const retry = { delays_ms: [10_000, 300_000] }
  expect([retryCount(retry), describeDelays(retry)]).toEqual([2, '10 s, 5 min'])
})

it('has presets that replace each other, each with the retries that its name promises', () => {
  const day = 86_400_000
  const last = Object.entries(retryPresets).map(([name, preset]) => {
    const changed = { ...custom('1, 2'), maxRetries: '7', ...preset }
    expect(checkRetry(changed), name).toEqual({})
    return [name, retryTimes(changed).at(-1)]
  })
  expect(Object.fromEntries(last)).toEqual({
    Default: 3_410_000,
    'No retries': undefined,
    'Three within a minute': 60_000,
    'Over a day': expect.toSatisfy((ms: number) => ms > day && ms < 1.5 * day),
    'Standard Webhooks': 272_105_000,
  })
})
