import { describe, expect, it } from 'vitest'
import { allZones, instantOf, wallText, wallTimeOf } from './zoned-time.ts'

const wall = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`)
const instant = (text: string, zone: string) => {
  const { at, note } = instantOf(wall(text), zone)
  return [at.toISOString(), note]
}

describe('a wall time in a time zone', () => {
  it('is converted to an instant', () => {
    expect(instant('2026-07-01 09:00:30', 'Europe/Berlin')).toEqual(['2026-07-01T07:00:30.000Z', null])
    expect(instant('2026-12-01 00:00:00', 'Asia/Kathmandu')).toEqual(['2026-11-30T18:15:00.000Z', null])
    expect(instant('2026-12-01 00:00:00', 'UTC')).toEqual(['2026-12-01T00:00:00.000Z', null])
  })

  it('is the end of the gap if clocks skip it', () => {
    expect(instant('2027-03-28 02:30:00', 'Europe/Berlin')).toEqual(['2027-03-28T01:00:00.000Z', 'clock_gap'])
  })

  it('is the first of two if it occurs twice', () => {
    expect(instant('2026-10-25 02:30:00', 'Europe/Berlin')).toEqual(['2026-10-25T00:30:00.000Z', 'clock_overlap'])
    expect(instant('2026-11-01 01:30:00', 'America/New_York')).toEqual(['2026-11-01T05:30:00.000Z', 'clock_overlap'])
  })

  it('is converted back from an instant', () => {
    expect(wallTimeOf(new Date('2026-11-30T18:15:07Z'), 'Asia/Kathmandu')).toEqual(wall('2026-12-01 00:00:07'))
    expect(wallText(new Date('2026-11-30T18:15:07Z'), 'Asia/Kathmandu')).toBe('2026-12-01 00:00:07')
  })

  it('lists the zone of the viewer and UTC first', () => {
    expect(allZones('Europe/Rome', 'UTC').slice(0, 2)).toEqual(['Europe/Rome', 'UTC'])
  })

  it('lists the chosen zone also under a name that the browser does not list, once', () => {
    for (const zone of ['Europe/Kyiv', 'Europe/Kiev', 'Asia/Kolkata', 'Asia/Calcutta', 'UTC']) {
      expect(allZones('Europe/Rome', zone).filter(one => one === zone)).toEqual([zone])
    }
  })
})
