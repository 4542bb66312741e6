import { describe, expect, it } from 'vitest'
import { parseWhen } from './parse-when.ts'

// A Saturday, 15:20 in Berlin.
const now = new Date('2026-11-21T14:20:00.000Z')
const read = (text: string, zone = 'Europe/Berlin') => {
  const when = parseWhen(text, zone, now)
  return 'error' in when ? 'error' : when.at.toISOString()
}

describe('parsing a time', () => {
  it.each([
    ['in 10 minutes', '2026-11-21T14:30:00.000Z'],
    ['in 1 h 30 min', '2026-11-21T15:50:00.000Z'],
    ['+90s', '2026-11-21T14:21:30.000Z'],
    ['2 days', '2026-11-23T14:20:00.000Z'],
    ['in 1 week and 1 day', '2026-11-29T14:20:00.000Z'],
    ['today 18:00', '2026-11-21T17:00:00.000Z'],
    ['Tomorrow 09:00', '2026-11-22T08:00:00.000Z'],
    ['tomorrow', '2026-11-22T08:00:00.000Z'],
    ['tomorrow at 9am', '2026-11-22T08:00:00.000Z'],
    ['18:00', '2026-11-21T17:00:00.000Z'],
    ['yesterday 03:00', '2026-11-20T02:00:00.000Z'],
    ['now', '2026-11-21T14:20:02.000Z'],
    ['9:30', '2026-11-22T08:30:00.000Z'],
    ['12:30 am', '2026-11-21T23:30:00.000Z'],
    ['noon', '2026-11-22T11:00:00.000Z'],
    ['monday 17:30', '2026-11-23T16:30:00.000Z'],
    ['next fri 8:00', '2026-11-27T07:00:00.000Z'],
    ['saturday 10:00', '2026-11-28T09:00:00.000Z'],
    ['saturday 18:00', '2026-11-21T17:00:00.000Z'],
    ['2026-12-31 18:00', '2026-12-31T17:00:00.000Z'],
    ['2026-12-31T18:00:05', '2026-12-31T17:00:05.000Z'],
    ['2026-12-31T18:00:05Z', '2026-12-31T18:00:05.000Z'],
    ['2026-12-31 18:00+02:00', '2026-12-31T16:00:00.000Z'],
  ])('%s', (text, instant) => {
    expect(read(text)).toBe(instant)
  })

  it('uses the time zone', () => {
    expect(read('tomorrow 09:00', 'Asia/Tokyo')).toBe('2026-11-22T00:00:00.000Z')
    expect(read('today 09:00', 'Pacific/Auckland')).toBe('2026-11-21T20:00:00.000Z')
  })

  it.each([
    '',
    'soon',
    'in minutes',
    '25:00',
    '2026-13-01 10:00',
    '2026-02-30 10:00',
    'in 0 s',
    '9',
    'someday 9:00',
    'in 9999999999 weeks',
  ])('rejects %j', text => {
    expect(read(text)).toBe('error')
  })
})
