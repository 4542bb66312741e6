import { describe, expect, it } from 'vitest'
import { createRateLimits } from './rate-limits.ts'

describe('an allowance', () => {
  it('holds the requests of a second and fills up evenly', () => {
    let ms = 0
    const limits = createRateLimits(() => ms)
    const take = (count: number) => Array.from({ length: count }, () => limits.take('a', 10).allowed)
    expect(take(12).filter(Boolean)).toHaveLength(10)
    ms = 100
    expect(take(3)).toEqual([true, false, false])
    ms = 599
    expect(take(6).filter(Boolean)).toHaveLength(4)
    ms = 60_000
    expect(take(20).filter(Boolean)).toHaveLength(10)
  })

  it('returns the rest and when the allowance is full again', () => {
    const limits = createRateLimits(() => 0)
    expect(limits.take('a', 2)).toEqual({ allowed: true, left: 1, fullInS: 1 })
    expect(limits.take('a', 2)).toEqual({ allowed: true, left: 0, fullInS: 1 })
    expect(limits.take('a', 2)).toEqual({ allowed: false, left: 0, fullInS: 1 })
  })

  it('is its own for each id, however many there are', () => {
    const limits = createRateLimits(() => 0)
    for (let i = 0; i < 50_000; i++) limits.take(`caller ${i}`, 1)
    expect(limits.take('caller 49999', 1).allowed).toBe(false)
    expect(limits.take('caller 0', 1).allowed).toBe(false)
    expect(limits.take('another', 1).allowed).toBe(true)
  })
})
