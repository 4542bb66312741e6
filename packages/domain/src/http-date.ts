import { dateOf } from './instant.ts'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const month = `(?<month>${months.join('|')})`
const time = '(?<time>\\d{2}:\\d{2}:\\d{2})'
const shortDay = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const longDay = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)'

// RFC 9110, 5.6.7: the current form, and two obsolete ones that recipients must accept.
const forms = [
  new RegExp(`^${shortDay}, (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^${longDay}, (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT$`),
  new RegExp(`^${shortDay} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
]

/** Parses an HTTP date in any of its three forms; returns null for other text. */
export function parseHttpDate(text: string, now: Date): Date | null {
  for (const form of forms) {
    const parts = form.exec(text)?.groups
    if (parts) return toDate(parts, now)
  }
  return null
}

function toDate(parts: Record<string, string>, now: Date): Date | null {
  const { day = '', month = '', year = '', time = '' } = parts
  const [hour = 0, minute = 0, second = 0] = time.split(':').map(Number)
  const fullYear = year.length === 2 ? expandYear(Number(year), now) : Number(year)
  return dateOf(fullYear, months.indexOf(month) + 1, Number(day), hour, minute, second)
}

// A two-digit year more than 50 years ahead means the most recent past year with these digits.
function expandYear(digits: number, now: Date): number {
  const thisYear = now.getUTCFullYear()
  const year = thisYear - (thisYear % 100) + digits
  return year > thisYear + 50 ? year - 100 : year
}
