import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffs, type RetryPolicy, retryDefaults, retryDelayMs } from './retry.ts'

const middle = () => 0.5

function delays(policy: Partial<RetryPolicy>, random = middle): number[] {
  return [1, 2, 3, 4, 5, 6].map(n => retryDelayMs({ ...retryDefaults, ...policy }, n, random))
}

describe('retryDelayMs', () => {
  it('grows four-fold by default, up to an hour', () => {
    expect(delays({})).toEqual([10_000, 40_000, 160_000, 640_000, 2_560_000, 3_600_000])
  })

  it('grows by the base when linear', () => {
    expect(delays({ backoff: 'linear', maxDelayMs: 45_000 })).toEqual([10_000, 20_000, 30_000, 40_000, 45_000, 45_000])
  })

  it('stays the base when fixed', () => {
    expect(delays({ backoff: 'fixed' })).toEqual([10_000, 10_000, 10_000, 10_000, 10_000, 10_000])
  })

  it('is spread by 10 % either way, after the cap', () => {
    expect(delays({}, () => 0)).toEqual([9_000, 36_000, 144_000, 576_000, 2_304_000, 3_240_000])
    expect(delays({ backoff: 'fixed' }, () => 1 - Number.EPSILON)[0]).toBe(11_000)
  })

  it('is the listed delay, without jitter, for every policy', () => {
    const list = fc.array(fc.integer({ min: 0, max: 2_592_000_000 }), { minLength: 1, maxLength: 20 })
    const rest = fc.record({
      backoff: fc.constantFrom(...backoffs),
      baseDelayMs: fc.integer({ min: 1_000, max: 3_600_000 }),
      maxDelayMs: fc.integer({ min: 1_000, max: 86_400_000 }),
    })
    fc.assert(
      fc.property(list, rest, fc.double({ min: 0, max: 0.999, noNaN: true }), (delaysMs, policy, r) => {
        const listed = delaysMs.map((_, i) =>
          retryDelayMs({ ...policy, maxRetries: delaysMs.length, delaysMs }, i + 1, () => r),
        )
        expect(listed).toEqual(delaysMs)
      }),
    )
  })

  it('is a whole, positive number for every policy and retry that can be stored', () => {
    const policy = fc.record({
      maxRetries: fc.constant(20),
      backoff: fc.constantFrom(...backoffs),
      baseDelayMs: fc.integer({ min: 1_000, max: 3_600_000 }),
      maxDelayMs: fc.integer({ min: 1_000, max: 86_400_000 }),
    })
    fc.assert(
      fc.property(
        policy,
        fc.integer({ min: 1, max: 20 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (p, n, r) => {
          const delay = retryDelayMs(p, n, () => r)
          expect(Number.isSafeInteger(delay)).toBe(true)
          expect(delay).toBeGreaterThanOrEqual(900)
          expect(delay).toBeLessThanOrEqual(Math.ceil(p.maxDelayMs * 1.1))
        },
      ),
    )
  })
})
