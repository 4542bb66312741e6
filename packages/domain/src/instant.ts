import { dateOf } from './calendar.ts'

// The letters may be lower-case, as RFC 3339 has it; the space that it also allows in place of the T is refused.
const form = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/**
 * Reads an RFC 3339 timestamp, offset included, of the years 1 to 9999; null for every other text. A fraction of a
 * second is cut to milliseconds. `new Date` cannot judge this: it accepts 30 February and guesses missing offsets.
 */
export function parseInstant(text: string): Date | null {
  const parts = form.exec(text)
  if (!parts) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number)
  const [fraction = '', sign = '+', offsetHour = '0', offsetMinute = '0'] = parts.slice(7)
  const local = dateOf({ year, month, day, hour, minute, second })
  if (local === null || Number(offsetHour) > 23 || Number(offsetMinute) > 59) return null
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const instant = new Date(local.getTime() + ms + (sign === '-' ? offsetMs : -offsetMs))
  return isInRange(year) && isInRange(instant.getUTCFullYear()) ? instant : null
}

/** Writes an instant as `toISOString` does, in a tenth of the time where the one before lay within the same second. */
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
