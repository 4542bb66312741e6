import { expect, it } from 'vitest'
import { startOfHour } from './upcoming.tsx'

it.each([
  ['UTC', '2026-11-28T10:00:00.000Z'],
  ['Europe/Berlin', '2026-11-28T10:00:00.000Z'],
  ['Asia/Kolkata', '2026-11-28T09:30:00.000Z'],
  ['Asia/Kathmandu', '2026-11-28T10:15:00.000Z'],
])('the hour of the clock in %s begins at %s', (zone, start) => {
  expect(startOfHour(new Date('2026-11-28T10:20:30.456Z'), zone).toISOString()).toBe(start)
})
