import { expect, it } from 'vitest'
import { limitsText } from './queues.tsx'

const none = { max_concurrent: null, rate_limit: null, ordered: false }

it('describes the limits of a queue', () => {
  expect(limitsText(none)).toBe('None')
  expect(limitsText({ ...none, max_concurrent: 3 })).toBe('3 at a time')
  expect(limitsText({ max_concurrent: 1_000, rate_limit: { count: 100, period_ms: 60_000 }, ordered: true })).toMatch(
    /^One at a time, in order, 100 per 1 ?m(in)?$/,
  )
})
