import { cpuTimeOf } from '@belfry/test-support/cpu-time'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { CronExpressionParser } from 'cron-parser'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { parseCron } from './parse-cron.ts'

// Elements that no field accepts, and those that each field refuses.
const never = ['', 'W', '?', '#', 'H', '-', '/', ',', '*/', '/5', '*/0', '*/-1', '*/x', '**', '*-5', '1-', '-1', '1--2']
const neverEither = [
  '1,',
  ',1',
  '1,,2',
  '2-1',
  '1/2',
  '1-2-3',
  '1-2/3/4',
  '1.5',
  '1e1',
  '0x1',
  '+1',
  '１',
  '*/1.5',
  'ABC',
  '99999',
]
const perField = [
  ['60', '0-60', '00060', 'JAN', 'MON', 'L', '5L', '5#2'],
  ['24', '20-24', 'JAN', 'MON', 'L', '5L', '5#2'],
  ['0', '32', 'LW', '15W', 'L-3', '3-L', 'L/2', '15L', '5#2', 'LL', 'MON'],
  ['0', '13', 'MON', 'JANUARY', 'ſEP', 'L', '5L', '5#2', 'JULL'],
  [
    '8',
    'L',
    '8L',
    '5#0',
    '5#6',
    '5#',
    '#2',
    '5#2L',
    '5L#2',
    '5L/2',
    '5#2/2',
    '1-5L',
    '5L-6',
    '1-5#2',
    '*L',
    '*#1',
    '5#10',
  ],
  ['JAN', 'MONDAY', 'FRI-SUN', 'LFRI', 'FRILL'],
]
const names = ['minute', 'hour', 'day of month', 'month', 'day of week']
const malformed = perField.flatMap((texts, i) => {
  const field = Math.min(i, names.length - 1)
  return [...never.filter(text => text !== ''), ...neverEither, ...texts].map(text => [field, text] as const)
})

describe('parseCron', () => {
  it(`refuses ${malformed.length} malformed fields, naming the field`, () => {
    expect(malformed.length).toBeGreaterThan(150)
    for (const [field, text] of malformed) {
      const parsed = parseCron(names.map((_, i) => (i === field ? text : '*')).join(' '))
      expect([text, parsed]).toEqual([text, { ok: false, message: expect.stringContaining(`${names[field]}: `) }])
    }
  })

  it.each([
    ['', 'it has 0'],
    ['   ', 'it has 0'],
    ['*', 'it has 1'],
    ['* * * *', 'it has 4'],
    ['* * * * * *', 'it has 6'],
    ['@daily', '@daily are not supported'],
    ['@reboot', 'exactly 5 fields'],
    ['*\u00a0* * * *', 'U+00A0'],
    ['* *\u3000* * *', 'U+3000'],
    ['* * * *\n*', 'U+000A'],
    ['* * * * *\r', 'U+000D'],
    ['*\v* * * *', 'U+000B'],
    ['*\u200b * * * *', 'U+200B'],
    ['\ufeff* * * * *', 'U+FEFF'],
    ['*\u0000 * * * *', 'U+0000'],
    ['* '.repeat(5000), 'at most 1000 characters'],
  ])('refuses %j', (text, reason) => {
    expect(parseCron(text)).toEqual({ ok: false, message: expect.stringContaining(reason) })
  })

  it('reports every invalid field', () => {
    const parsed = parseCron('60 24 0 13 8')
    expect(parsed).toEqual({ ok: false, message: expect.stringMatching(new RegExp(names.join('.*'))) })
  })

  it.each([
    ['5  4\t* * *', '5 4 * * *'],
    [' 0 0 1 jan sun ', '0 0 1 jan sun'],
    ['05 4 * * 7', '05 4 * * 7'],
    ['0,0,0 0 * * 0,7', '0,0,0 0 * * 0,7'],
    ['*/90 0-23/30 * * *', '*/90 0-23/30 * * *'],
    ['1-5/2,*/7,59 * * Feb-DEC MON-FRI', '1-5/2,*/7,59 * * Feb-DEC MON-FRI'],
  ])('reads %j', (text, normal) => {
    expect(parseCron(text)).toMatchObject({ ok: true, cron: { text: normal } })
  })

  it('accepts Sunday as 0, 7 and name', () => {
    const weekdays = ['0', '7', 'SUN', '7-7', '0-6/7'].map(day => {
      const parsed = parseCron(`0 0 * * ${day}`)
      return parsed.ok && parsed.cron.weekdays
    })
    expect(new Set(weekdays.map(String))).toEqual(new Set(['true,false,false,false,false,false,false']))
  })

  it.each([
    ['0 0 L,1 * 2', '0 0 l,1 * tue', { lastDay: true }],
    ['0 0 * * 0#1', '0 0 * * sun#1', { lastDay: false }],
    ['0 0 * * 7#1', '0 0 * * SUN#1', { weekdays: Array(7).fill(false) }],
    ['0 0 * * 5L,7L,1#5', '0 0 * * FRIL,0L,mOn#5', { lastDay: false }],
  ])('reads %s as %s', (one, other, table) => {
    const [first, second] = [one, other].map(text => {
      const parsed = parseCron(text)
      return parsed.ok && { ...parsed.cron, text: '', fields: {} }
    })
    expect(first).toEqual(second)
    expect(first).toMatchObject(table)
  })

  it('takes the values of each element from cron-parser, once', () => {
    const parse = vi.spyOn(CronExpressionParser, 'parse')
    const first = parseCron('3-58/11,59 * * * *')
    expect(first.ok && first.cron.minutes.flatMap((named, minute) => (named ? [minute] : []))).toEqual([
      3, 14, 25, 36, 47, 58, 59,
    ])
    expect(parse.mock.calls).toContainEqual(['3-58/11 * * * *'])
    parse.mockClear()
    expect(parseCron('3-58/11,59 7 * * *').ok).toBe(true)
    expect(parse.mock.calls.filter(([text]) => text.startsWith('3-58'))).toEqual([])
    parse.mockRestore()
  })

  it.each(['0 0 * * MON#1,FRIL', '1-5,3 * * * *', '*,5 * * * *', '0 0 * * 0-7,SUN', '0 0 31 2 *'])(
    'reads %s, which cron-parser refuses',
    text => {
      expect(() => CronExpressionParser.parse(text)).toThrow()
      expect(parseCron(text)).toMatchObject({ ok: true })
    },
  )

  it('answers for any text within 50 ms of computing', async () => {
    const piece = fc.oneof(
      fc.constantFrom(' ', '*', '/', '-', ',', '1', '59', 'SUN', 'L', '#', '\t'),
      fc.string({ maxLength: 3 }),
    )
    const text = fc.oneof(
      fc.string({ maxLength: 2000 }),
      fc.array(piece, { maxLength: 400 }).map(parts => parts.join('')),
    )
    const slow = new Set<string>()
    fc.assert(
      fc.property(text, given => {
        const cpuMs = cpuTimeOf(() => parseCron(given))
        if (cpuMs >= 50) slow.add(given)
        if (parseCron(given).ok) expect(given.trim().split(/[ \t]+/)).toHaveLength(5)
      }),
      { numRuns: propertyRuns(10_000), seed: 5 },
    )
    for (const given of slow) expect(await leastCostOf(given), given).toBeLessThan(50)
  })
})

/** The least CPU time of three rounds, because to collect garbage takes some. No round knows what an earlier one has parsed. */
async function leastCostOf(text: string): Promise<number> {
  const costs: number[] = []
  for (let round = 0; round < 3; round++) {
    vi.resetModules()
    const fresh = await import('./parse-cron.ts')
    costs.push(cpuTimeOf(() => fresh.parseCron(text)))
  }
  return Math.min(...costs)
}
