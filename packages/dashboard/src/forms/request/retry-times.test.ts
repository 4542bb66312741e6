import { expect, it } from 'vitest'
import { emptyRequest } from './request-draft.ts'
import { retryTimes } from './retry-times.ts'

it('retries start one delay after another, each at most the longest', () => {
  expect(retryTimes(emptyRequest)).toEqual([10_000, 50_000, 210_000, 850_000, 3_410_000])
  const linear = { ...emptyRequest, backoff: 'linear', maxRetries: '3', maxDelaySeconds: '15' }
  expect(retryTimes(linear)).toEqual([10_000, 25_000, 40_000])
  expect(retryTimes({ ...emptyRequest, maxRetries: '' })).toEqual([])
  expect(retryTimes({ ...emptyRequest, baseDelaySeconds: 'x' })).toEqual([])
})
