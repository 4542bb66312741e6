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
const kept = new Map<string, readonly number[]>()
const maxShown = 20
const specials: Readonly<Record<string, string>> = {
  L: 'L (last) is not supported',
  W: 'W (nearest weekday) is not supported',
  '#': '# (nth weekday of the month) is not supported',
  '?': '? is not supported; write *',
  H: 'H (hashed) is not supported',
}

/** Parses one field into its values, or returns the rule that it breaks. */
export function parseCronField(text: string, field: CronFieldRange): { values: Set<number> } | { problem: string } {
  const elements = text.split(',')
  for (const element of elements) {
    const problem = problemOf(element, field)
    if (problem !== null) return { problem: `${field.name}: ${problem}` }
  }
  return { values: new Set(elements.flatMap(element => valuesOf(element, field))) }
}

// cron-parser refuses lists with a repeated value, and days that a month does not have. Both are valid in cron(8), so each
// element of a list is parsed alone.
function valuesOf(element: string, field: CronFieldRange): readonly number[] {
  const key = `${field.key} ${element}`
  const known = kept.get(key)
  if (known) return known
  const expression = cronFields.map(other => (other === field ? element : '*')).join(' ')
  const values = CronExpressionParser.parse(expression).fields[field.key].values.map(Number)
  if (kept.size === maxKept) kept.clear()
  kept.set(key, values)
  return values
}

// Stricter than cron-parser, which accepts macros, letters such as L and H, steps without a range, and more.
function problemOf(element: string, field: CronFieldRange): string | null {
  const shown = `"${element.length > maxShown ? `${element.slice(0, maxShown)}...` : element}"`
  if (element === '') return 'an element of the list is empty'
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
