// RFC 3339, and what ISO 8601, PostgreSQL and the libraries of languages write: a space for the T, no seconds, a comma.
const form = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?(.*)$/s
const offsetForm = /^(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/

/**
 * Reads a timestamp with an offset, in the years 1 to 9999, or returns what it must do, as the end of a sentence. Fractions of a
 * second are truncated to milliseconds. `new Date` would accept 30 February and guess missing offsets.
 */
export function readInstant(text: string): { value: Date } | { must: string } {
  const parts = form.exec(text)
  const rest = parts?.[8] ?? ''
  if (!parts || (parts[4] === undefined && rest !== '')) return { must }
  const offset = offsetForm.exec(rest)
  if (!offset) return { must: mustInsteadOf(rest) }
  const number = (text: string | undefined) => Number(text ?? 0)
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(number)
  const [offsetHour, offsetMinute] = [number(offset[2]), number(offset[3])]
  if (hour > 23 || minute > 59 || second > 59) return { must: 'have a time of day from 00:00:00 to 23:59:59' }
  if (offsetHour > 23 || offsetMinute > 59) return { must: 'have an offset from -23:59 to +23:59' }
  const local = dateOf(year, month, day, hour, minute, second)
  if (local === null) return { must: `be a day that exists, which ${text.slice(0, 'yyyy-mm-dd'.length)} does not` }
  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000
  const ms = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const value = new Date(local.getTime() + ms + (offset[1] === '-' ? offsetMs : -offsetMs))
  return isInRange(year) && isInRange(value.getUTCFullYear()) ? { value } : { must: 'be in the years 1 to 9999' }
}

/** Reads a timestamp as `readInstant` does; returns null for other text. */
export function parseInstant(text: string): Date | null {
  const read = readInstant(text)
  return 'value' in read ? read.value : null
}

const must = 'be a timestamp with an offset, such as 2026-11-21T02:20:00Z'

function mustInsteadOf(offset: string): string {
  if (offset === '') return 'have a time of day and an offset, such as 02:20:00Z or 02:20:00+01:00'
  if (/^ \d\d(:?\d\d)?$/.test(offset)) return 'have a + or - before its offset; a + in a URL is written %2B'
  if (/^ *([Zz]|[+-]\d)/.test(offset) && /[ [(]/.test(offset))
    return 'end with its offset, without a space or the name of a time zone'
  return must
}

/** Formats an instant like `toISOString`, ten times as fast when the previous instant was in the same second. */
export function writeInstant(instant: Date): string {
  const ms = instant.getTime()
  const second = Math.floor(ms / 1000)
  if (second !== latest.second) latest = { second, text: instant.toISOString().slice(0, -'000Z'.length) }
  const fraction = ms - second * 1000
  return `${latest.text}${fraction < 10 ? '00' : fraction < 100 ? '0' : ''}${fraction}Z`
}

let latest = { second: Number.NaN, text: '' }

function isInRange(year: number): boolean {
  return year >= 1 && year <= 9999
}

/** Returns the instant of a UTC date and time, or null if it does not exist. */
export function dateOf(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): Date | null {
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return null
  const date = new Date(0)
  // Date.UTC maps the years 0 to 99 to 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day)
  // A day beyond the end of the month has become a day of the next one.
  if (date.getUTCMonth() !== month - 1) return null
  date.setUTCHours(hour, minute, second)
  return date
}
