import { cpuTimeOf } from '@belfry/test-support/cpu-time'
import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextOccurrence } from './next-occurrence.ts'
import { type CronExpression, parseCron } from './parse-cron.ts'

const minuteMs = 60_000

// Days with unusual clock changes, and ordinary days.
const windows: ReadonlyArray<readonly [zone: string, firstDay: string, days: number]> = [
  ['Europe/Berlin', '2026-03-27', 4],
  ['Europe/Berlin', '2026-10-23', 4],
  ['America/New_York', '2027-03-12', 4],
  ['America/New_York', '2027-11-05', 4],
  ['Australia/Lord_Howe', '2026-04-02', 4],
  ['Australia/Lord_Howe', '2026-10-02', 4],
  ['Australia/Sydney', '2026-10-02', 4],
  ['Pacific/Auckland', '2027-04-02', 4],
  ['Africa/Casablanca', '2026-02-13', 4],
  ['Africa/Casablanca', '2026-03-20', 4],
  ['America/Sao_Paulo', '2018-11-02', 4],
  ['America/Sao_Paulo', '2019-02-15', 4],
  ['America/St_Johns', '2008-03-07', 4],
  ['America/St_Johns', '2008-10-31', 4],
  ['Asia/Kathmandu', '2026-07-30', 4],
  ['Asia/Kathmandu', '1985-12-30', 4],
  ['Pacific/Apia', '2011-12-28', 5],
  ['Antarctica/Troll', '2026-03-27', 4],
  ['Antarctica/Casey', '2009-10-16', 4],
  ['Europe/Dublin', '2026-10-23', 4],
  ['Asia/Pyongyang', '2015-08-13', 4],
  ['Africa/Cairo', '2026-04-22', 4],
  ['America/Havana', '2027-03-12', 4],
  ['Asia/Beirut', '2026-03-27', 4],
]

const expressions = [
  '30 2 * * *',
  '0 0 * * *',
  '15,45 0-3 * * *',
  '0 1-3 * * *',
  '*/20 * * * *',
  '*/30 2 * * *',
  '0 */2 * * *',
  '7 3 * * SUN',
  '59 23 1,15 * 6',
]

// A change of an hour, of half an hour, for a month of the moon, and on the southern hemisphere.
const zonesOfYear = ['Europe/Berlin', 'Australia/Lord_Howe', 'Africa/Casablanca', 'America/Sao_Paulo']

// Instants are compared as text: an equality of arrays with thousands of numbers would take most of the time.
describe('nextOccurrence', () => {
  const cases = windows.flatMap(([zone, day, days]) => expressions.map(expression => ({ zone, day, days, expression })))
  it.each(cases)(
    'agrees with a scan of every minute: $expression in $zone from $day',
    ({ zone, day, days, expression }) => {
      const minutes = wallClock(zone, day, days)
      expect(found(expression, zone, minutes).join()).toBe(scan(expression, minutes).join())
    },
  )

  // Whole years, in UTC, where the offset is constant.
  it.each([
    ['0 0 29 2 *', '2023-06-01', 3000],
    ['0 0 29 2 MON', '2095-12-01', 200],
    ['30 12 31 * *', '2026-01-01', 800],
    ['0 0 30 1-3 *', '2026-01-01', 800],
    ['0 0 28-31 2 7', '2026-01-01', 800],
    ['0 12 * * 7', '2026-01-01', 60],
    ['0 12 * * 0', '2026-01-01', 60],
    ['0 12 * * 5-7', '2026-01-01', 60],
    ['0 12 13 * FRI', '2026-01-01', 400],
    ['0 12 */10 * 1', '2026-01-01', 400],
    ['0 12 * * 1-5/2', '2026-01-01', 60],
    ['59 23 31 12 *', '2026-01-01', 1100],
    ['3-59/14 5-23/6 2-30/7 feb-nov/3 *', '2026-01-01', 800],
  ])('agrees with a scan of every minute: %s from %s for %i days', (expression, day, days) => {
    const minutes = wallClock('UTC', day, days)
    expect(found(expression, 'UTC', minutes).join()).toBe(scan(expression, minutes).join())
  })

  it.each(
    zonesOfYear
      .slice(0, propertyRuns(zonesOfYear.length, 2))
      .flatMap(zone =>
        [
          '30 2 28 3,10 *',
          '0 3 * */2 SUN',
          '30 2 * 3,10 SUNL',
          '0 0 L * 6#1',
          '15 2 1-7 4,10 *',
          '*/30 2 22 3 *',
          '0 0 29 2 *',
        ].map(text => [text, zone] as const),
      ),
  )('agrees with a scan of 430 days: %s in %s', (expression, zone) => {
    const minutes = wallClock(zone, '2026-01-01', 430)
    expect(found(expression, zone, minutes).join()).toBe(scan(expression, minutes).join())
  })

  it('agrees with a look at every day for days that depend on the month', () => {
    const nth = fc.tuple(
      fc.constantFrom(...'0 1 5 6 7 SUN fri'.split(' ')),
      fc.constantFrom(...'L #1 #2 #3 #4 #5'.split(' ')),
    )
    const weekday = fc.oneof(
      nth.map(parts => parts.join('')),
      fc.constantFrom('2', '4-6'),
    )
    const listOf = (element: fc.Arbitrary<string>) =>
      fc.oneof(
        fc.constant('*'),
        fc.array(element, { minLength: 1, maxLength: 3 }).map(elements => elements.join(',')),
      )
    const fields = fc.tuple(listOf(fc.constantFrom('L', '29', '1-3')), field(1, 12), listOf(weekday))
    fc.assert(
      fc.property(fields, fc.integer({ min: 1990, max: 2096 }), ([day, month, weekday], year) => {
        const [expression, startMs] = [`0 0 ${day} ${month} ${weekday}`, Date.UTC(year, 1, 20)]
        const matches = matcher(expression)
        const days = Array.from({ length: 800 }, (_, i) => startMs + i * 1440 * minuteMs)
        const looked = days.slice(1).filter(matches)
        expect(found(expression, 'UTC', { startMs, offsetsMs: new Int32Array(799 * 1440 + 1) }).join()).toBe(
          looked.join(),
        )
      }),
      { numRuns: propertyRuns(300), seed: 5 },
    )
  })

  it('agrees with the scan for random expressions', () => {
    const cell = fc.record({
      expression: fc
        .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7))
        .map(cells => cells.join(' ')),
      window: fc.constantFrom(...windows),
    })
    fc.assert(
      fc.property(cell, ({ expression, window: [zone, day, days] }) => {
        const minutes = wallClock(zone, day, days)
        expect(found(expression, zone, minutes).join()).toBe(scan(expression, minutes).join())
      }),
      { numRuns: propertyRuns(2_000), seed: 5 },
    )
  })

  it('reports the effect of a clock change on an occurrence', () => {
    const gap = nextOccurrence(cronOf('30 2 * * *'), 'Europe/Berlin', Date.parse('2026-03-28T12:00:00Z'))
    expect(gap).toEqual({
      atMs: Date.parse('2026-03-29T01:00:00Z'),
      localMs: Date.parse('2026-03-29T02:30:00Z'),
      change: 'clock_gap',
    })
    const overlap = nextOccurrence(cronOf('30 2 * * *'), 'Europe/Berlin', Date.parse('2026-10-24T12:00:00Z'))
    expect(overlap).toMatchObject({ atMs: Date.parse('2026-10-25T00:30:00Z'), change: 'clock_overlap' })
    const interval = nextOccurrence(cronOf('*/30 2 * * *'), 'Europe/Berlin', Date.parse('2026-10-24T12:00:00Z'))
    expect(interval).toMatchObject({ atMs: Date.parse('2026-10-25T00:00:00Z'), change: null })
  })

  it('continues from within a second', () => {
    const at = (text: string) => nextOccurrence(cronOf('* * * * *'), 'UTC', Date.parse(text))?.atMs
    expect(at('2026-01-01T00:00:00.000Z')).toBe(Date.parse('2026-01-01T00:01:00Z'))
    expect(at('2025-12-31T23:59:59.999Z')).toBe(Date.parse('2026-01-01T00:00:00Z'))
  })

  it.each([
    ['0 0 31 2 *', 'Africa/Casablanca'],
    ['59 23 30 2 *', 'America/St_Johns'],
    ['0 0 31 4,6,9,11 *', 'UTC'],
  ])('detects within 50 ms that %s never fires', (expression, zone) => {
    const find = () => expect(nextOccurrence(cronOf(expression), zone, Date.parse('2026-01-01T00:00:00Z'))).toBeNull()
    // To collect garbage takes some of the time.
    const costs = [cpuTimeOf(find)]
    while (Math.min(...costs) >= 50 && costs.length < 3) costs.push(cpuTimeOf(find))
    expect(Math.min(...costs)).toBeLessThan(50)
  })

  it('finds a leap day eight years ahead', () => {
    const next = nextOccurrence(cronOf('0 0 29 2 *'), 'Europe/Berlin', Date.parse('2096-03-01T00:00:00Z'))
    expect(next?.atMs).toBe(Date.parse('2104-02-28T23:00:00Z'))
  })
})

/** The minutes from an instant on, with the offset of the wall clock at each. As objects they would fill the memory. */
type Minutes = { startMs: number; offsetsMs: Int32Array }

const clocks = new Map<string, Minutes>()

// Reads the clock every half hour, and every minute where two readings differ. A reading takes 40 times as long as a match.
function wallClock(zone: string, firstDay: string, days: number): Minutes {
  const key = `${zone} ${firstDay} ${days}`
  const known = clocks.get(key)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' },
    minute: 'numeric',
  })
  const localOf = (atMs: number) => {
    if (zone === 'UTC') return atMs
    const part = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]))
    return Date.UTC(part.year ?? 0, (part.month ?? 0) - 1, part.day, part.hour, part.minute)
  }
  const startMs = Date.parse(firstDay)
  const offsetsMs = new Int32Array(days * 1440)
  const offsetAt = (i: number) => localOf(startMs + i * minuteMs) - startMs - i * minuteMs
  for (let i = 0; i < offsetsMs.length; i += 30) {
    offsetsMs.fill(offsetAt(i), i, i + 30)
    if (i === 0 || offsetsMs[i] === offsetsMs[i - 1]) continue
    for (let j = i - 29; j < i; j++) offsetsMs[j] = offsetAt(j)
  }
  const minutes = { startMs, offsetsMs }
  clocks.set(key, minutes)
  return minutes
}

// cron(8), minute by minute: skipped times fire when the gap is over, repeated times do not fire again, unless the
// expression means intervals. The first minute only provides the wall-clock time.
function scan(expression: string, { startMs, offsetsMs }: Minutes): number[] {
  const [minute = '', hour = ''] = expression.split(' ')
  const isInterval = minute.startsWith('*') || hour.startsWith('*')
  const matches = matcher(expression)
  const fired: number[] = []
  let last = startMs + (offsetsMs[0] ?? 0)
  let latest = last
  for (let i = 1; i < offsetsMs.length; i++) {
    const atMs = startMs + i * minuteMs
    const localMs = atMs + (offsetsMs[i] ?? 0)
    const skipped = localMs - last - minuteMs
    const isGap = skipped > 0 && skipped <= 180 * minuteMs && !isInterval
    const isRepeated = localMs <= latest && !isInterval
    let fires = !isRepeated && matches(localMs)
    for (let at = last + minuteMs; isGap && at < localMs; at += minuteMs) fires ||= matches(at)
    if (fires) fired.push(atMs)
    last = localMs
    latest = Math.max(latest, localMs)
  }
  return fired
}

function matcher(expression: string): (localMs: number) => boolean {
  const [minute, hour, day, month, weekday] = expression.split(' ').map((text, i) => valuesOf(text, i))
  const either = expression.split(' ')[2] !== '*' && expression.split(' ')[4] !== '*'
  const isMinute = Array.from({ length: 1440 }, (_, i) => minute?.has(i % 60) && hour?.has(Math.floor(i / 60)))
  let known = { day: Number.NaN, matches: false }
  return localMs => {
    // Most minutes end here, and a date takes ten times as long as this.
    if (!isMinute[(localMs / minuteMs) % 1440]) return false
    const dayNumber = Math.floor(localMs / (1440 * minuteMs))
    if (known.day !== dayNumber) known = { day: dayNumber, matches: isDayOf(new Date(localMs)) }
    return known.matches
  }

  function isDayOf(date: Date): boolean {
    if (!month?.has(date.getUTCMonth() + 1)) return false
    const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
    const isDay = day?.has(date.getUTCDate()) || (day?.has('L') && date.getUTCDate() === lastDay) || false
    const names = date.getUTCDay() === 0 ? [0, 7] : [date.getUTCDay()]
    const nths = [`#${Math.ceil(date.getUTCDate() / 7)}`, ...(date.getUTCDate() > lastDay - 7 ? ['L'] : [])]
    const isWeekday = names.some(name => weekday?.has(name) || nths.some(nth => weekday?.has(name + nth)))
    return either ? isDay || isWeekday : isDay && isWeekday
  }
}

const bounds = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const
const words = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ').map((word, i) => [word, i + 1] as const)
const dayWords = 'SUN MON TUE WED THU FRI SAT'.split(' ').map((word, i) => [word, i] as const)

function valuesOf(text: string, position: number): Set<number | string> {
  const [low = 0, high = 0] = bounds[position] ?? []
  let plain = text.toUpperCase()
  for (const [word, value] of position === 3 ? words : dayWords) plain = plain.replaceAll(word, String(value))
  const values = new Set<number | string>()
  for (const part of plain.split(',')) {
    if (/[L#]/.test(part)) values.add(part)
    const [, from, to, step] = /^(\*|\d+)(?:-(\d+))?(?:\/(\d+))?$/.exec(part) ?? []
    const first = from === '*' ? low : Number(from)
    const last = from === '*' ? high : Number(to ?? from)
    for (let value = low; value <= high; value++) {
      if (value >= first && value <= last && (value - first) % Number(step ?? 1) === 0) values.add(value)
    }
  }
  return values
}

function found(expression: string, zone: string, { startMs, offsetsMs }: Minutes): number[] {
  const cron = cronOf(expression)
  const end = startMs + (offsetsMs.length - 1) * minuteMs
  const times: number[] = []
  let at = startMs
  for (;;) {
    const next = nextOccurrence(cron, zone, at)
    if (next === null || next.atMs > end) return times
    times.push(next.atMs)
    at = next.atMs
  }
}

function cronOf(text: string): CronExpression {
  const parsed = parseCron(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.cron
}

// Few values, so many expressions match a window of some days.
function field(low: number, high: number): fc.Arbitrary<string> {
  const value = fc.integer({ min: low, max: high })
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
  const step = fc.integer({ min: 1, max: high + 3 })
  const element = fc.oneof(
    { arbitrary: fc.constant('*'), weight: 4 },
    { arbitrary: step.map(n => `*/${n}`), weight: 2 },
    { arbitrary: value.map(String), weight: 2 },
    { arbitrary: range, weight: 2 },
    { arbitrary: fc.tuple(range, step).map(([r, n]) => `${r}/${n}`), weight: 1 },
  )
  const list = fc.array(element, { minLength: 2, maxLength: 3 }).map(elements => elements.join(','))
  return fc.oneof({ arbitrary: element, weight: 4 }, { arbitrary: list, weight: 1 })
}

it('is tested over windows with clock changes', () => {
  const isChanged = ([zone, day, days]: (typeof windows)[number]) =>
    new Set(wallClock(zone, day, days).offsetsMs).size > 1
  const still = windows.filter(window => !isChanged(window)).map(([zone, day]) => `${zone} ${day}`)
  expect(still).toEqual(['Asia/Kathmandu 2026-07-30'])
})
