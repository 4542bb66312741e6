import { expect, it } from 'vitest'
import { partDaysOf } from './month-parts.ts'

it('divides a month of a million runs a day into days, and into weeks where they are kept for long', () => {
  expect(partDaysOf({ runsPerDay: 999_999, keptDays: 7 })).toBe('month')
  expect(partDaysOf({ runsPerDay: 1_000_000, keptDays: 60 })).toBe(1)
  expect(partDaysOf({ runsPerDay: 1_000_000, keptDays: 61 })).toBe(7)
})
