import { expect, it } from 'vitest'
import { createCompletionRate } from './prefetch-windows.ts'

function recordEach(ms: number, { from, to }: { from: number; to: number }) {
  const rate = createCompletionRate()
  for (let now = from; now < to; now += ms) rate.record(now)
  return rate
}

it('expects as many completions as there were in the last moments', () => {
  const rate = recordEach(1, { from: 50_000, to: 50_350 })
  expect(rate.expect(20, 50_350)).toBe(20)
  expect(rate.expect(1_000, 50_399)).toBe(1_000)
})

it('expects at least one while there are some now and then, and none after the last one', () => {
  const rate = recordEach(60, { from: 50_000, to: 50_300 })
  expect(rate.expect(20, 50_350)).toBe(1)
  expect(rate.expect(20, 50_399)).toBe(1)
  expect(rate.expect(20, 50_400)).toBe(0)
  expect(createCompletionRate().expect(20, 50_400)).toBe(0)
})

it('follows a rising rate at once', () => {
  const rate = recordEach(10, { from: 50_000, to: 50_200 })
  for (let i = 0; i < 100; i++) rate.record(50_201)
  expect(rate.expect(20, 50_202)).toBe(20)
})
