import { instantOf, type WallTime, wallTimeOf, type ZonedInstant } from './zoned-time.ts'

export type When = ZonedInstant | { error: string }

// The API takes only times in the future.
const soonMs = 2000
const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
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
  if (!/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*([Zz]|[+-]\d\d:?\d\d)$/.test(text)) return null
  const at = new Date(text.replace(' ', 'T'))
  return Number.isNaN(at.getTime()) ? null : { at, note: null }
}

function readDay(input: string, timeZone: string, now: Date): When | null {
  const today = wallTimeOf(now, timeZone)
  const [, date, time] =
    /^(?:(\d{4}-\d\d-\d\d|today|tomorrow|yesterday|(?!noon|midnight)(?:next )?[a-z]{3,9})(?:[t ]|$))?(?:at )?(.*)$/.exec(
      input,
    ) ?? []
  const clock = time ? readClock(time) : { hour: 9, minute: 0, second: 0 }
  if (!clock || (!date && !time)) return null
  const day = date ? readDate(date, today) : today
  if (!day) return null
  const found = instantOf({ ...day, ...clock }, timeZone)
  const isPast = found.at <= now
  // A past time without a day means tomorrow. A past time on a weekday means next week.
  if (isPast && !date) return instantOf({ ...plusDays(today, 1), ...clock }, timeZone)
  if (isPast && date && /^(next )?[a-z]/.test(date) && !/^(to|yes)/.test(date)) {
    return instantOf({ ...plusDays(day, 7), ...clock }, timeZone)
  }
  return found
}

function readDate(date: string, today: WallTime): WallTime | null {
  const near = nearDays.get(date)
  if (near !== undefined) return plusDays(today, near)
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(date) ?? []
  if (year) {
    const given = { ...today, year: Number(year), month: Number(month), day: Number(day) }
    const exists = plusDays(given, 0).day === given.day && given.month <= 12
    return exists ? given : null
  }
  const index = weekdays.findIndex(weekday => weekday.startsWith(date.replace('next ', '')))
  if (index === -1) return null
  const daysUntil = (index - new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay() + 7) % 7
  return plusDays(today, daysUntil)
}

// "9", "9:30", "09:30:15", "9 am", "9:30pm", "noon", "midnight"
function readClock(time: string): Pick<WallTime, 'hour' | 'minute' | 'second'> | null {
  if (time === 'noon') return { hour: 12, minute: 0, second: 0 }
  if (time === 'midnight') return { hour: 0, minute: 0, second: 0 }
  const [, h, min, sec, half] = /^(\d{1,2})(?::(\d\d)(?::(\d\d))?)?\s*(am|pm)?$/.exec(time) ?? []
  if (h === undefined || (min === undefined && half === undefined)) return null
  const given = Number(h)
  if (half && (given < 1 || given > 12)) return null
  const hour = half ? (given % 12) + (half === 'pm' ? 12 : 0) : given
  const clock = { hour, minute: Number(min ?? 0), second: Number(sec ?? 0) }
  return hour < 24 && clock.minute < 60 && clock.second < 60 ? clock : null
}

function plusDays(wall: WallTime, count: number): WallTime {
  const day = new Date(Date.UTC(wall.year, wall.month - 1, wall.day + count))
  return { ...wall, year: day.getUTCFullYear(), month: day.getUTCMonth() + 1, day: day.getUTCDate() }
}
