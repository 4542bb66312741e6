import { describe, expect, it } from 'vitest'
import { allZones, instantOf, wallText, wallTimeOf } from './zoned-time.ts'

const wall = (text: string) => {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = text.split(/\D/).map(Number)
  return { year, month, day, hour, minute, second }
}
const instant = (text: string, zone: string) => {
  const { at, note } = instantOf(wall(text), zone)
  return [at.toISOString(), note]
}

describe('a time on the clocks of a zone', () => {
  it('is the instant at which they show it', () => {
    expect(instant('2026-07-01 09:00:30', 'Europe/Berlin')).toEqual(['2026-07-01T07:00:30.000Z', null])
    expect(instant('2026-12-01 00:00:00', 'Asia/Kathmandu')).toEqual(['2026-11-30T18:15:00.000Z', null])
    expect(instant('2026-12-01 00:00:00', 'UTC')).toEqual(['2026-12-01T00:00:00.000Z', null])
  })

  it('that the clocks skip is moved behind the skip', () => {
    expect(instant('2027-03-28 02:30:00', 'Europe/Berlin')).toEqual(['2027-03-28T01:30:00.000Z', 'clock_gap'])
  })

  it('that comes twice is its first instance', () => {
    expect(instant('2026-10-25 02:30:00', 'Europe/Berlin')).toEqual(['2026-10-25T00:30:00.000Z', 'clock_overlap'])
    expect(instant('2026-11-01 01:30:00', 'America/New_York')).toEqual(['2026-11-01T05:30:00.000Z', 'clock_overlap'])
  })

  it('comes back from the instant', () => {
    expect(wallTimeOf(new Date('2026-11-30T18:15:07Z'), 'Asia/Kathmandu')).toEqual(wall('2026-12-01 00:00:07'))
    expect(wallText(new Date('2026-11-30T18:15:07Z'), 'Asia/Kathmandu')).toBe('2026-12-01 00:00:07')
  })

  it('the zones begin with the one of the viewer and with UTC', () => {
    expect(allZones('Europe/Rome').slice(0, 2)).toEqual(['Europe/Rome', 'UTC'])
  })
})
