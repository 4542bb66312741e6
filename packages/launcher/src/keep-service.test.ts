import { expect, test } from 'vitest'
import { restartPauseMs } from './keep-service.ts'

test('doubles from half a second to half a minute while a service keeps failing', () => {
  const pauses: number[] = []
  for (let pause = 0; pauses.length < 9; pauses.push(pause)) pause = restartPauseMs(pause, 10)
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
})

test('starts again after a minute of work', () => {
  expect(restartPauseMs(30_000, 60_000)).toBe(500)
  expect(restartPauseMs(30_000, 59_999)).toBe(30_000)
})
