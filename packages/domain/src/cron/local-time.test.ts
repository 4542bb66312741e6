import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { localTimeOf, occurrenceOfLocal, parseInstantIn } from './local-time.ts'
import { nextOccurrence } from './next-occurrence.ts'
import { parseCron } from './parse-cron.ts'

describe('a local time', () => {
  it.each([
    ['2026-07-01T09:00:30', 'Europe/Berlin', '2026-07-01T09:00:30.000+02:00', null],
    ['2026-12-01T00:00:00.250', 'Asia/Kathmandu', '2026-12-01T00:00:00.250+05:45', null],
    ['2027-01-01T00:00:00', 'America/St_Johns', '2027-01-01T00:00:00.000-03:30', null],
    ['2027-03-28T02:30:00', 'Europe/Berlin', '2027-03-28T03:00:00.000+02:00', 'clock_gap'],
    ['2027-03-28T03:00:00', 'Europe/Berlin', '2027-03-28T03:00:00.000+02:00', null],
    ['2026-10-25T02:30:00', 'Europe/Berlin', '2026-10-25T02:30:00.000+02:00', 'clock_overlap'],
    ['2026-10-25T03:00:00', 'Europe/Berlin', '2026-10-25T03:00:00.000+01:00', null],
    ['2026-11-01T01:30:00', 'America/New_York', '2026-11-01T01:30:00.000-04:00', 'clock_overlap'],
    ['2026-04-05T01:45:00', 'Australia/Lord_Howe', '2026-04-05T01:45:00.000+11:00', 'clock_overlap'],
    ['2011-12-30T12:00:00', 'Pacific/Apia', '2011-12-31T00:00:00.000+14:00', 'clock_gap'],
  ])('%s in %s is %s', (local, zone, expected, change) => {
    const found = occurrenceOfLocal(zone, Date.parse(`${local}Z`))
    expect([localTimeOf(zone, found.atMs), found.change]).toEqual([expected, change])
    expect(parseInstantIn(zone, local)?.getTime()).toBe(found.atMs)
  })

  it('is the instant at which a cron job of that time runs', () => {
    const zones = fc.constantFrom(
      'Europe/Berlin',
      'America/Havana',
      'Australia/Lord_Howe',
      'Africa/Cairo',
      'Asia/Tokyo',
    )
    const minutes = fc.integer({ min: Date.UTC(2026, 0) / 60_000, max: Date.UTC(2028, 0) / 60_000 })
    fc.assert(
      fc.property(zones, minutes, (zone, minute) => {
        const local = new Date(minute * 60_000)
        const [hours, days] = [local.getUTCHours(), local.getUTCDate()]
        const parsed = parseCron(`${local.getUTCMinutes()} ${hours} ${days} ${local.getUTCMonth() + 1} *`)
        const run = parsed.ok && nextOccurrence(parsed.cron, zone, local.getTime() - 86_400_000)
        expect(occurrenceOfLocal(zone, local.getTime())).toEqual(run)
      }),
      { numRuns: propertyRuns(2_000), seed: 5, examples: [['Europe/Berlin', Date.UTC(2027, 2, 28, 2, 30) / 60_000]] },
    )
  })

  it('needs a zone, and an offset needs none', () => {
    expect(parseInstantIn(null, '2026-07-01T09:00:00')).toBeNull()
    expect(parseInstantIn('Asia/Tokyo', '2026-07-01T09:00:00Z')?.toISOString()).toBe('2026-07-01T09:00:00.000Z')
    expect(parseInstantIn('Asia/Tokyo', '2026-02-30T09:00:00')).toBeNull()
  })
})
