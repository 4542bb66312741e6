import { cpuTimeOf } from '@belfry/test-support/cpu-time'
import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CronSchedule, countOccurrences, nextScheduled } from './cron-schedule.ts'
import { parseCron } from './parse-cron.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

// Days around clock changes: back, forward, by half an hour, by a whole day, and none.
const places = [
  ['Europe/Berlin', '2026-03-28T12:00:00Z'],
  ['Europe/Berlin', '2026-10-24T12:00:00Z'],
  ['America/New_York', '2027-11-06T18:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T02:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T02:00:00Z'],
  ['America/Sao_Paulo', '2018-11-03T15:00:00Z'],
  ['Africa/Casablanca', '2026-02-14T12:00:00Z'],
  ['America/St_Johns', '2008-11-01T12:00:00Z'],
  ['Pacific/Apia', '2011-12-29T12:00:00Z'],
  ['Asia/Kathmandu', '2026-07-30T12:00:00Z'],
] as const

function schedule(text: string, changes: Partial<CronSchedule> = {}): CronSchedule {
  const parsed = parseCron(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return { cron: parsed.cron, timezone: 'UTC', startsAt: null, endsAt: null, ...changes }
}

function enumerate(rule: CronSchedule, fromMs: number, toMs: number): number {
  let count = 0
  for (let next = nextScheduled(rule, fromMs - 1); next && next.atMs < toMs; next = nextScheduled(rule, next.atMs))
    count++
  return count
}

describe('countOccurrences', () => {
  it('agrees with listing them, over every clock change', () => {
    const minute = fc.constantFrom('*', '*/7', '0', '30', '15,45', '0-20/5', '59')
    const hour = fc.constantFrom('*', '*/2', '2', '1-3', '0,23', '3')
    const day = fc.constantFrom('* * *', '* * 0', '29 3 *', '25 * 6', '1-28 * MON-FRI')
    const bounds = fc.tuple(fc.integer({ min: 0, max: 48 * 60 }), fc.integer({ min: 0, max: 48 * 60 * 60_000 }))
    const cell = fc.tuple(minute, hour, day, fc.constantFrom(...places), bounds, fc.option(bounds))
    fc.assert(
      fc.property(cell, ([minute, hour, day, [timezone, start], [after, length], limits]) => {
        const fromMs = Date.parse(start) + after * minuteMs
        const startsAt = limits && new Date(Date.parse(start) + limits[0] * minuteMs)
        const endsAt = limits && new Date(Date.parse(start) + limits[1])
        const rule = schedule(`${minute} ${hour} ${day}`, { timezone, startsAt, endsAt })
        expect(countOccurrences(rule, fromMs, fromMs + length)).toBe(enumerate(rule, fromMs, fromMs + length))
      }),
      { numRuns: propertyRuns(3_000), seed: 7 },
    )
  })

  it.each([
    ['30 2 * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', [0, 1, 0]],
    ['0-59 2,3 * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', [0, 60, 0]],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:00:00Z', [1, 0, 0]],
    ['*/30 * * * *', 'Europe/Berlin', '2026-10-25T00:00:00Z', [2, 2, 2]],
  ] as const)('counts %s in %s hour by hour from %s', (text, timezone, start, counts) => {
    const fromMs = Date.parse(start)
    const rule = schedule(text, { timezone })
    const counted = counts.map((_, i) => countOccurrences(rule, fromMs + i * hourMs, fromMs + (i + 1) * hourMs))
    expect(counted).toEqual(counts)
  })

  it('counts a day of 1,000 cron jobs that fire every minute faster than it lists that of 100', () => {
    const rule = schedule('* * * * *', { timezone: 'Europe/Berlin' })
    const fromMs = Date.parse('2026-10-24T12:00:17.123Z')
    const hours = Array.from({ length: 24 }, (_, i) => fromMs + i * hourMs)
    const countDay = () => hours.reduce((sum, at) => sum + countOccurrences(rule, at, at + hourMs), 0)
    const listDay = () => enumerate(rule, fromMs, fromMs + 24 * hourMs)
    expect([countDay(), listDay()]).toEqual([1440, 1440])
    const times = (count: number, run: () => unknown) => () => {
      for (let i = 0; i < count; i++) run()
    }
    const rounds = Array.from(
      { length: 3 },
      () => [cpuTimeOf(times(1000, countDay)), cpuTimeOf(times(100, listDay))] as const,
    )
    const [counting, listing] = [Math.min(...rounds.map(([ms]) => ms)), Math.min(...rounds.map(([, ms]) => ms))]
    expect(counting).toBeLessThan(listing)
  })
})
