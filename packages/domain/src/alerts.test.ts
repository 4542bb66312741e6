import { expect, it } from 'vitest'
import { nextAlertPause } from './alerts.ts'

it('pauses longer while alerts continue, up to an hour', () => {
  let pause = 0
  const pauses = Array.from({ length: 8 }, () => {
    pause = nextAlertPause(pause, pause + 5_000)
    return pause / 60_000
  })
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
})

it('starts again after a quiet time as long as the pause', () => {
  expect(nextAlertPause(3_600_000, 7_200_000)).toBe(60_000)
  expect(nextAlertPause(3_600_000, 7_199_999)).toBe(3_600_000)
})

it('starts with a minute', () => {
  expect(nextAlertPause(0, 0)).toBe(60_000)
})
