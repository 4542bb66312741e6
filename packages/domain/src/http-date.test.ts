import { expect, it } from 'vitest'
import { parseHttpDate } from './http-date.ts'

it('a year of two digits is the nearest that is not more than 50 years ahead', () => {
  const now = new Date('2026-11-21T00:00:00Z')
  expect(parseHttpDate('Saturday, 21-Nov-76 00:00:00 GMT', now)?.getUTCFullYear()).toBe(2076)
  expect(parseHttpDate('Saturday, 21-Nov-77 00:00:00 GMT', now)?.getUTCFullYear()).toBe(1977)
})

it('all three forms mean the same instant', () => {
  const now = new Date('2026-11-21T00:00:00Z')
  const forms = ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994']
  for (const form of forms) expect(parseHttpDate(form, now)?.toISOString()).toBe('1994-11-06T08:49:37.000Z')
})
