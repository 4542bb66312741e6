import { expect, it } from 'vitest'
import { billingPeriod } from './quota.ts'

it.each([
  ['2026-11-21T02:20:00.000Z', '2026-11-01', '2026-12-01'],
  ['2026-12-31T23:59:59.999Z', '2026-12-01', '2027-01-01'],
  ['2027-01-01T00:00:00.000Z', '2027-01-01', '2027-02-01'],
  ['2028-02-29T12:00:00.000Z', '2028-02-01', '2028-03-01'],
])('the period of %s is a calendar month of UTC', (at, start, end) => {
  const period = billingPeriod(new Date(at))
  expect([period.start, period.end]).toEqual([new Date(start), new Date(end)])
})
