import { nextOccurrence } from '@belfry/domain/cron/next-occurrence'
import { parseCron } from '@belfry/domain/cron/parse-cron'
import { expect, it } from 'vitest'
import { ImportRefusal } from './entry.ts'
import { keepDays } from './keep-days.ts'

it.each([
  ['0 0 1-7 * */2', '0 0 * * 0#1,2#1,4#1,6#1'],
  ['0 0 8-21 3 */6', '0 0 * 3 0#2,0#3,6#2,6#3'],
  ['0 0 1,15 * */1', '0 0 1,15 * *'],
  ['0 0 */1 * MON', '0 0 * * MON'],
])('%s becomes %s', (text, cron) => {
  expect(keepDays(text)).toEqual({ cron, notes: [expect.stringContaining(cron)] })
})

it.each(['0 0 1 * MON', '0 0 */2 * *', '0 0 * * */2', '*/5 * * * *', '0 0 L * FRIL', 'hello'])('%s stays', text => {
  expect(keepDays(text)).toEqual({ cron: text, notes: [] })
})

const dayMs = 86_400_000
const matches = (field: string, low: number, value: number) =>
  field.split(',').some(element => {
    const [, from = '', to = from, step = '1'] = /^(\*|\d+)(?:-(\d+))?(?:\/(\d+))?$/.exec(element) ?? []
    const first = from === '*' ? low : Number(from)
    return value >= first && (from === '*' || value <= Number(to)) && (value - first) % Number(step) === 0
  })

// The rule of Debian's cron.c: both fields count once one of them begins with *.
function debianDays(day: string, weekday: string, startMs: number, days: number): number[] {
  const isBoth = day.startsWith('*') || weekday.startsWith('*')
  return Array.from({ length: days }, (_, i) => startMs + (i + 1) * dayMs).filter(at => {
    const date = new Date(at)
    const isDay = matches(day, 1, date.getUTCDate())
    const isWeekday = matches(weekday, 0, date.getUTCDay()) || (date.getUTCDay() === 0 && matches(weekday, 0, 7))
    return isBoth ? isDay && isWeekday : isDay || isWeekday
  })
}

it('keeps the days of Debian’s cron, or refuses', () => {
  const days = ['*', '*/1', '*/2', '*/7', '1-7', '8-14,22-28', '29-31', '1', '1-31', '*,5', '1-28/7']
  const weekdays = ['*', '*/1', '*/2', '*/6', '*/7', '*,1', '1', '1-5', '0-6', '7', '5-7']
  const startMs = Date.UTC(2027, 10, 20)
  const refused = days.flatMap(day =>
    weekdays.filter(weekday => {
      const cron = keptCron(`0 0 ${day} * ${weekday}`)
      if (cron === null) return true
      const expected = debianDays(day, weekday, startMs, 400)
      const found: number[] = []
      for (let at = startMs; found.length <= expected.length; at = found.at(-1) ?? at) {
        found.push(nextOccurrence(cron, 'UTC', at)?.atMs ?? Number.NaN)
      }
      expect([day, weekday, found.slice(0, -1)]).toEqual([day, weekday, expected])
      expect(found.at(-1)).toBeGreaterThan(startMs + 400 * dayMs)
      return false
    }),
  )
  expect(refused).toHaveLength(20)
})

function keptCron(text: string) {
  try {
    const parsed = parseCron(keepDays(text).cron)
    return parsed.ok ? parsed.cron : null
  } catch (error) {
    expect(error).toBeInstanceOf(ImportRefusal)
    return null
  }
}
