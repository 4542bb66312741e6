import pg from 'pg'
import { expect, it } from 'vitest'
import { parseTimestamp } from './parse-timestamp.ts'

const parse = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date

it.each([
  '2026-11-27 11:45:33+00',
  '2026-11-27 11:45:33.1+00',
  '2026-02-28 23:59:59.123+00',
  '2024-02-29 00:00:00.000001+00',
  '1970-01-01 00:00:00+00',
  '1912-06-23 07:08:09.25+00',
  '9999-12-31 23:59:59.999999+00',
  '0999-01-01 00:00:00+00',
  '2026-11-27 12:45:33.5+01',
  '2026-11-27 17:15:33.5+05:30',
  '10000-01-01 00:00:00+00',
  '0044-03-15 12:00:00+00 BC',
])('parses %s as node-postgres does', text => {
  expect(parseTimestamp(text)).toEqual(parse(text))
})

it('keeps each millisecond', () => {
  for (let ms = 0; ms < 1_000; ms++) {
    const at = new Date(Date.UTC(2026, 0, 1, 0, 0, 0, ms))
    expect(parseTimestamp(at.toISOString().replace('T', ' ').replace('Z', '+00'))).toEqual(at)
  }
})
