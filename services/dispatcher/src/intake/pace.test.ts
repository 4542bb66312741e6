import { expect, it } from 'vitest'
import { createPace } from './pace.ts'

function noteEach(ms: number, { from, to }: { from: number; to: number }) {
  const pace = createPace()
  for (let now = from; now < to; now += ms) pace.note(now)
  return pace
}

it('expects as many as there were of late', () => {
  const pace = noteEach(1, { from: 50_000, to: 50_350 })
  expect(pace.expect(20, 50_350)).toBe(20)
  expect(pace.expect(1_000, 50_399)).toBe(1_000)
})

it('expects one at least of what happens now and then, and none of what has ended', () => {
  const pace = noteEach(60, { from: 50_000, to: 50_300 })
  expect(pace.expect(20, 50_350)).toBe(1)
  expect(pace.expect(20, 50_399)).toBe(1)
  expect(pace.expect(20, 50_400)).toBe(0)
  expect(createPace().expect(20, 50_400)).toBe(0)
})

it('follows what speeds up at once', () => {
  const pace = noteEach(10, { from: 50_000, to: 50_200 })
  for (let i = 0; i < 100; i++) pace.note(50_201)
  expect(pace.expect(20, 50_202)).toBe(20)
})
