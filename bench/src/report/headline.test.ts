import { describe, expect, it } from 'vitest'
import type { Figure } from '../benchmarks/benchmark.ts'
import { headlines, isMet } from './headline.ts'

const figure = (key: string, value: number, limit?: Figure['limit']): Figure => ({
  key,
  title: key,
  value,
  min: value,
  max: value,
  ...(limit ? { limit } : {}),
})

describe('the headlines', () => {
  it('tell the worse of two concurrencies', () => {
    const least = { atLeast: 1 }
    const most = { atMost: 1 }
    const figures = [
      figure('a_50', 3, least),
      figure('a_200', 2, least),
      figure('b_50', 3, most),
      figure('b_200', 2, most),
    ]
    expect(headlines(figures)).toEqual({ a: 2, a_50: 3, a_200: 2, b: 3, b_50: 3, b_200: 2 })
  })

  it('leave other figures as they are', () => {
    expect(headlines([figure('lag_p99_1000_ms', 7)])).toEqual({ lag_p99_1000_ms: 7 })
  })
})

describe('a demand', () => {
  it('is met at its very limit', () => {
    expect(isMet(figure('a', 1, { atLeast: 1 }))).toBe(true)
    expect(isMet(figure('a', 0.9, { atLeast: 1 }))).toBe(false)
    expect(isMet(figure('a', 1, { atMost: 1 }))).toBe(true)
    expect(isMet(figure('a', 1.1, { atMost: 1 }))).toBe(false)
    expect(isMet(figure('a', 1))).toBe(null)
  })
})
