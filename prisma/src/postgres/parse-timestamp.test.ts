import pg from 'pg'
import { expect, it } from 'vitest'
import { parseTimestamp } from './parse-timestamp.ts'

it('reads what PostgreSQL writes for a session in UTC', () => {
  for (let i = 0; i < 2_000; i++) {
    const time = new Date(
      Date.UTC(1900 + (i % 300), i % 12, 1 + (i % 31), i % 24, i % 60, (i * 7) % 60, (i * 37) % 1000),
    )
    const [date = '', clock = ''] = time.toISOString().slice(0, -1).split('T')
    const withMicros = `${date} ${clock}${['', '4', '07', '999'][i % 4]}`
    expect(parseTimestamp(`${withMicros.replace(/\.?0+$/, '')}+00`)).toEqual(time)
  }
})

it.each([
  '2026-11-21 13:12:01+00',
  '2026-11-21 13:12:01.1+00',
  '2026-11-21 13:12:01.123456+00',
  '2026-11-21 14:12:01.5+01',
  '2026-11-21 18:42:01.5+05:30',
  '12026-11-21 13:12:01.25+00',
  '0044-03-15 12:00:00+00 BC',
  'infinity',
])('says of %s what the driver says', text => {
  expect(parseTimestamp(text)).toEqual(pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)(text))
})
