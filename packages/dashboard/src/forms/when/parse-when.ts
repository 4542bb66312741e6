import { parseLocal } from '@belfry/domain/cron/local-time'
import { parseInstant } from '@belfry/domain/instant'
import { dayMs, instantOf, wallDayOf, type ZonedInstant } from './zoned-time.ts'

export type When = ZonedInstant | { error: string }

/** A time as the user types it, and its time zone. */
export type WhenDraft = { text: string; zone: string }

// The API takes only times in the future.
const soonMs = 2000
const hourMs = 3_600_000
const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: hourMs, d: dayMs, w: 7 * dayMs }
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const nearDays = new Map([
  ['yesterday', -1],
  ['today', 0],
  ['tomorrow', 1],
])
const help = 'Use a time such as “in 10 minutes”, “tomorrow 09:00”, “Friday 17:30” or “2026-12-31 18:00”.'
const length = /(\d+(?:\.\d+)?)\s*(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)\b/g

/** Parses a time as people write it, in a time zone. */
export function parseWhen(text: string, timeZone: string, now: Date): When {
  const input = text.trim().toLowerCase().replace(/\s+/g, ' ')
  if (input === '') return { error: 'Enter a time.' }
  if (input === 'now') return { at: new Date(now.getTime() + soonMs), note: null }
  return readLength(input, now) ?? readInstant(text.trim()) ?? readDay(input, timeZone, now) ?? { error: help }
}

/** Returns the instant of a draft for the API, or else the error of its text. */
export function readWhen({ text, zone }: WhenDraft, now = new Date()): { at: string | null; error: string | null } {
  const when = parseWhen(text, zone, now)
  return 'error' in when ? { at: null, error: when.error } : { at: when.at.toISOString(), error: null }
}

// "in 1 h 30 min", "+10m", "2 days"
function readLength(input: string, now: Date): When | null {
  const bare = input.replace(/^(in |\+)/, '')
  const rest = bare.replace(length, '').replace(/\band\b|,/g, '')
  if (rest.trim() !== '') return null
  let ms = 0
  for (const [, amount, unit = ''] of bare.matchAll(length)) ms += Number(amount) * (units[unit[0] ?? ''] ?? 0)
  const at = new Date(now.getTime() + ms)
  return ms > 0 && !Number.isNaN(at.getTime()) ? { at, note: null } : null
}

// A time with an offset does not depend on the zone.
function readInstant(text: string): When | null {
  const at = parseInstant(text.replace(/\s+(?=[Zz+-])/, ''))
  return at && { at, note: null }
}

function readDay(input: string, timeZone: string, now: Date): When | null {
  const today = wallDayOf(now, timeZone)
  const [, date, time] =
    /^(?:(\d{4}-\d\d-\d\d|today|tomorrow|yesterday|(?!noon|midnight)(?:next )?[a-z]{3,9})(?:[t ]|$))?(?:at )?(.*)$/.exec(
      input,
    ) ?? []
  const clock = time ? readClock(time) : 9 * hourMs
  if (clock === null || (!date && !time)) return null
  const day = date ? readDate(date, today) : today
  if (day === null) return null
  const found = instantOf(day + clock, timeZone)
  const isPast = found.at <= now
  // A past time without a day means tomorrow. A past time on a weekday means next week.
  if (isPast && !date) return instantOf(today + dayMs + clock, timeZone)
  if (isPast && date && /^(next )?[a-z]/.test(date) && !/^(to|yes)/.test(date)) {
    return instantOf(day + 7 * dayMs + clock, timeZone)
  }
  return found
}

function readDate(date: string, today: number): number | null {
  const near = nearDays.get(date)
  if (near !== undefined) return today + near * dayMs
  if (/^\d/.test(date)) return parseLocal(`${date}T00:00`)?.getTime() ?? null
  const index = weekdays.findIndex(weekday => weekday.startsWith(date.replace('next ', '')))
  if (index === -1) return null
  return today + ((index - new Date(today).getUTCDay() + 7) % 7) * dayMs
}

// "9", "9:30", "09:30:15", "9 am", "9:30pm", "noon", "midnight"
function readClock(time: string): number | null {
  if (time === 'noon') return 12 * hourMs
  if (time === 'midnight') return 0
  const [, h, min, sec, half] = /^(\d{1,2})(?::(\d\d)(?::(\d\d))?)?\s*(am|pm)?$/.exec(time) ?? []
  if (h === undefined || (min === undefined && half === undefined)) return null
  const given = Number(h)
  if (half && (given < 1 || given > 12)) return null
  const hour = half ? (given % 12) + (half === 'pm' ? 12 : 0) : given
  const [minute, second] = [Number(min ?? 0), Number(sec ?? 0)]
  return hour < 24 && minute < 60 && second < 60 ? hour * hourMs + minute * 60_000 + second * 1000 : null
}
