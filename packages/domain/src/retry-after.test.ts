import { describe, expect, it } from 'vitest'
import { parseRetryAfter } from './next-attempt.ts'

const now = new Date('2026-11-21T02:20:00Z')
const dayMs = 86_400_000

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['1', 1_000],
    ['120', 120_000],
    ['007', 7_000],
    ['64.57', 65_000],
    ['1.0', 1_000],
    ['0.001', 1_000],
    ['120 ', 120_000],
    [' 120 \t', 120_000],
    [' Sat, 21 Nov 2026 02:20:30 GMT ', 30_000],
    ['86400', dayMs],
    ['86401', dayMs],
    ['9'.repeat(400), dayMs],
    ['Sat, 21 Nov 2026 02:20:30 GMT', 30_000],
    ['Sat, 21 Nov 2026 02:20:00 GMT', 0],
    ['Sat, 21 Nov 2026 02:19:59 GMT', 0],
    ['Wed, 01 Jan 2020 00:00:00 GMT', 0],
    ['Thu, 31 Dec 2099 23:59:59 GMT', dayMs],
    ['Saturday, 21-Nov-26 02:20:30 GMT', 30_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['Sat Nov 21 02:20:30 2026', 30_000],
    ['Sun Nov  6 08:49:37 1994', 0],
  ])('reads %j', (value, ms) => {
    expect(parseRetryAfter(value, now)).toBe(ms)
  })

  it.each([
    undefined,
    '',
    ' ',
    '-1',
    '+5',
    '1.',
    '.5',
    '1,5',
    '1 5',
    '1.5.1',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    '5s',
    '5, 6',
    '\u0665',
    'soon',
    '2026-11-21T02:20:30Z',
    'Sat, 21 Nov 2026 02:20:30',
    'Sat, 21 Nov 2026 02:20:30 UTC',
    'Sat, 21 Nov 2026 02:20:30 +0100',
    'Sat, 31 Nov 2026 02:20:30 GMT',
    'Sat, 21 Nov 2026 24:00:00 GMT',
    'Sat, 21 Foo 2026 02:20:30 GMT',
    'sat, 21 nov 2026 02:20:30 gmt',
    'Sat, 21 Nov 2026 02:20:30 GMT\0',
  ])('ignores %j', value => {
    expect(parseRetryAfter(value, now)).toBeNull()
  })
})
