import { describe, expect, it } from 'vitest'
import { formatDuration, formatMinute, formatRelative, formatStamp, formatTicks, formatZoned } from './format-time.ts'

describe('formatting times', () => {
  const now = new Date('2026-11-21T12:00:00Z')
  it.each([
    ['2026-11-21T11:57:00Z', '3 min ago'],
    ['2026-11-21T14:00:00Z', 'in 2 hr'],
    ['2026-11-22T11:59:58Z', 'tomorrow'],
    ['2026-11-28T11:59:58Z', 'in 7 days'],
    ['2026-11-21T12:59:40Z', 'in 1 hr'],
    ['2026-11-21T11:59:00.400Z', '1 min ago'],
    ['2026-11-21T12:00:00.400Z', 'now'],
    ['2026-11-20T12:00:00Z', 'yesterday'],
    ['2026-12-21T12:00:00Z', 'in 1 mo'],
    ['2025-11-21T12:00:00Z', '1 yr ago'],
  ])('%s is %s', (at, words) => {
    expect(formatRelative(new Date(at), now)).toBe(words)
  })

  it('names the zone of a time', () => {
    expect(formatStamp(now, 'Europe/Berlin')).toBe('21 Nov, 13:00:00 CET')
    expect(formatZoned(now, 'UTC')).toBe('21 Nov 2026, 12:00:00 UTC')
  })

  it.each([
    [84, '84 ms'],
    [1240, '1.2 s'],
    [30_000, '30 s'],
    [200_000, '3 min 20 s'],
    [7_200_000, '2 h'],
  ])('%d ms are %s', (ms, words) => {
    expect(formatDuration(ms)).toBe(words)
  })

  it('formats a time to the minute with its weekday', () => {
    expect(formatMinute(new Date('2027-03-26T01:30:00Z'), 'Europe/Berlin')).toBe('Fri, 26 Mar 2027, 02:30')
  })

  it('formats an axis with times of day, or with dates if it has days', () => {
    const at = (text: string) => Date.parse(`2026-11-${text}:00Z`)
    expect(formatTicks([at('21T20:00'), at('21T22:00'), at('22T00:00')], 'UTC')).toEqual(['20:00', '22:00', '00:00'])
    expect(formatTicks([at('21T00:00'), at('22T00:00')], 'UTC')).toEqual(['21 Nov', '22 Nov'])
  })
})
