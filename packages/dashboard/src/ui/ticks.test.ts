import { expect, it } from 'vitest'
import { ticksOf } from './lines.tsx'

it.each([
  [0, false, [0, 1, 2]],
  [3, false, [0, 1, 2, 3]],
  [9, false, [0, 5, 10]],
  [47_593, false, [0, 20_000, 40_000, 60_000]],
  [0, true, [0, 1, 2]],
  [38, true, [0, 10, 20, 30, 40]],
  [12_600, true, [0, 5000, 10_000, 15_000]],
  [117_000, true, [0, 30_000, 60_000, 90_000, 120_000]],
  [5_400_000, true, [0, 1_800_000, 3_600_000, 5_400_000]],
])('an axis up to %d (duration: %s) has round values', (max, isDuration, ticks) => {
  expect(ticksOf(max, isDuration)).toEqual(ticks)
})
