import { CronExpressionParser } from 'cron-parser'

export type CronFieldName = 'minute' | 'hour' | 'day of month' | 'month' | 'day of week'

export type CronFieldRange = {
  name: CronFieldName
  /** Its name in cron-parser. */
  key: 'minute' | 'hour' | 'dayOfMonth' | 'month' | 'dayOfWeek'
  low: number
  high: number
  words: readonly string[]
}

/** The five fields in order. Sunday is 0 or 7. */
export const cronFields: readonly CronFieldRange[] = [
  { name: 'minute', key: 'minute', low: 0, high: 59, words: [] },
  { name: 'hour', key: 'hour', low: 0, high: 23, words: [] },
  { name: 'day of month', key: 'dayOfMonth', low: 1, high: 31, words: [] },
  {
    name: 'month',
    key: 'month',
    low: 1,
    high: 12,
    words: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  {
    name: 'day of week',
    key: 'dayOfWeek',
    low: 0,
    high: 7,
    words: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
  },
]

const maxKept = 10_000
const kept = new Map<string, readonly string[]>()
const maxShown = 20
const specials: Readonly<Record<string, string>> = {
  W: 'W (nearest weekday) is not supported',
  L: 'L (last) stands alone as a day of the month, or after a day of the week, as in FRIL',
  '#': '# stands between a day of the week and its number in the month, as in MON#1 to MON#5',
  '?': '? is not supported; write *',
  H: 'H (hashed) is not supported',
}

/**
 * Parses one field into its values, or returns the rule that it breaks. `L` is the last day of the month, `5L` the last
 * Friday, `1#2` the second Monday.
 */
export function parseCronField(text: string, field: CronFieldRange): { values: Set<string> } | { problem: string } {
  const elements = text.split(',')
  for (const element of elements) {
    const problem = problemOf(element, field)
    if (problem !== null) return { problem: `${field.name}: ${problem}` }
  }
  return { values: new Set(elements.flatMap(element => valuesOf(element, field))) }
}

// cron-parser refuses lists with a repeated value or a #, and days that a month does not have. They are valid here, so
// each element of a list is parsed alone.
function valuesOf(element: string, field: CronFieldRange): readonly string[] {
  const key = `${field.key} ${element}`
  const known = kept.get(key)
  if (known) return known
  const expression = cronFields.map(other => (other === field ? element.toUpperCase() : '*')).join(' ')
  const { fields } = CronExpressionParser.parse(expression)
  const { nthDay } = fields.dayOfWeek
  const values = fields[field.key].values.map(value => (nthDay > 0 ? `${value}#${nthDay}` : String(value)))
  if (kept.size === maxKept) kept.clear()
  kept.set(key, values)
  return values
}

// Stricter than cron-parser. cron-parser accepts e.g. macros, letters such as H, 15L, and steps without a range.
function problemOf(element: string, field: CronFieldRange): string | null {
  const shown = `"${element.length > maxShown ? `${element.slice(0, maxShown)}...` : element}"`
  if (element === '') return 'an element of the list is empty'
  if (isInMonth(element, field)) return null
  const [base = '', stepText, ...more] = element.split('/')
  const [fromText = '', toText, ...others] = base.split('-')
  if (more.length > 0 || others.length > 0) return `${shown} has more than one "/" or "-"`
  const step = stepText === undefined ? 1 : numberOf(stepText)
  if (step === null || step < 1) return `the step of ${shown} must be a whole number of at least 1`
  if (base === '*') return null
  const from = readValue(fromText, field)
  const to = toText === undefined ? from : readValue(toText, field)
  if (from === null || to === null) return `${shown} ${ruleBroken(element, field)}`
  if (stepText !== undefined && toText === undefined) {
    return `${shown} has a step without a range; write ${fromText}-${field.high}/${stepText}`
  }
  if (from > to) return `the range ${shown} must run from low to high${sundayHint(toText, field)}`
  return null
}

// Returns whether an element depends on the month: its last day, or the nth or last of its Mondays.
function isInMonth(element: string, field: CronFieldRange): boolean {
  if (field.key === 'dayOfMonth') return element.toUpperCase() === 'L'
  const [, day = ''] = /^(.+?)(?:#[1-5]|L)$/i.exec(element) ?? []
  return field.key === 'dayOfWeek' && readValue(day, field) !== null
}

function readValue(text: string, { low, high, words }: CronFieldRange): number | null {
  const word = /^[A-Za-z]{3}$/.test(text) ? words.indexOf(text.toUpperCase()) : -1
  const value = word >= 0 ? word + low : numberOf(text)
  return value !== null && value >= low && value <= high ? value : null
}

function numberOf(text: string): number | null {
  return /^\d{1,4}$/.test(text) ? Number(text) : null
}

function ruleBroken(element: string, { low, high, words }: CronFieldRange): string {
  const special = Object.keys(specials).find(sign => element.replace(/[A-Za-z]{3}/g, '').includes(sign))
  if (special !== undefined) return `is invalid: ${specials[special]}`
  const names = words.length === 0 ? '' : `, a name from ${words[0]} to ${words.at(-1)}`
  return `must be *, a whole number from ${low} to ${high}${names}, or a range of these`
}

function sundayHint(to: string | undefined, { high }: CronFieldRange): string {
  return high === 7 && (to === '0' || to?.toUpperCase() === 'SUN') ? '; at its end, Sunday is 7' : ''
}
